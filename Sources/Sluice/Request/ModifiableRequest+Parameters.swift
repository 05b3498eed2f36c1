import SluiceHTTP

extension ModifiableRequest {
    /// Replaces the path, which is appended to the base URL, or is a whole URL in its place; a fragment is dropped.
    public consuming func path(_ path: String) -> Self { modified { $0.path = path } }

    /// Adds a query item behind those there are; none where the value is nil.
    public consuming func query(_ name: String, _ value: String?) -> Self {
        guard let value else { return self }
        return modified { $0.add(.item(name: name, value: value)) }
    }

    /// Adds a query item of an integer.
    public consuming func query(_ name: String, _ value: some FixedWidthInteger) -> Self {
        modified { $0.add(.item(name: name, value: value.description)) }
    }

    /// Adds query items of any encodable value, as the client's encoder writes it: a boolean, a date, an array, an enum; none
    /// where the value is nil.
    @_disfavoredOverload
    public consuming func query(_ name: String, _ value: (any Encodable & Sendable)?) -> Self {
        guard let value else { return self }
        return query([name: value] as Parameters)
    }

    /// Adds a query item that is a name alone.
    public consuming func query(_ name: String) -> Self {
        modified { $0.add(.item(name: name, value: nil)) }
    }

    /// Adds an encodable value to the query, whatever the method.
    ///
    /// ```swift
    /// .query(["page": 1, "tags": ["a", "b"], "name": name])  // nil is left out
    /// .query(filter, encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
    /// ```
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary; what cannot be encoded fails the request with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: A copy with those items behind the ones there are.
    @_disfavoredOverload
    public consuming func query(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: value, encoder: encoder))) }
    }

    /// Adds names with values of any encodable types to the query, whatever the method.
    public consuming func query(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: parameters, encoder: encoder))) }
    }

    /// Adds parameters where the method wants them: into the query of a GET, HEAD, DELETE or OPTIONS, and of a request that has
    /// a body already; else into a body of the type `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary; what cannot be encoded fails the request with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: A copy with those parameters behind the ones there are.
    @_disfavoredOverload
    public consuming func parameters(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self
    {
        modified { $0.options.parameters.append(RequestParameters(value: value, encoder: encoder)) }
    }

    /// Adds names with values of any encodable types where the method wants them.
    public consuming func parameters(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.options.parameters.append(RequestParameters(value: parameters, encoder: encoder)) }
    }
}
