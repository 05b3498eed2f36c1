import SluiceHTTP

extension ModifiableRequest {
    /// Sets the path, which is appended to the base URL or is a whole URL that replaces it. A fragment is removed.
    public consuming func path(_ path: String) -> Self { modified { $0.path = path } }

    /// Appends a query item. A nil value appends nothing.
    public consuming func query(_ name: String, _ value: String?) -> Self {
        guard let value else { return self }
        return modified { $0.add(.item(name: name, value: value)) }
    }

    /// Appends a query item with an integer.
    public consuming func query(_ name: String, _ value: some FixedWidthInteger) -> Self {
        modified { $0.add(.item(name: name, value: value.description)) }
    }

    /// Appends query items for an encodable value, as the client's encoder writes it: a boolean, a date, an array, an
    /// enum. A nil value appends nothing.
    @_disfavoredOverload
    public consuming func query(_ name: String, _ value: (any Encodable & Sendable)?) -> Self {
        guard let value else { return self }
        return query([name: value] as Parameters)
    }

    /// Appends a query item that has a name and no value.
    public consuming func query(_ name: String) -> Self {
        modified { $0.add(.item(name: name, value: nil)) }
    }

    /// Appends an encodable value to the query, for any method.
    ///
    /// ```swift
    /// .query(["page": 1, "tags": ["a", "b"], "name": name])  // nil is left out
    /// .query(filter, encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
    /// ```
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary. If encoding fails, the request fails with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A copy with the items appended.
    @_disfavoredOverload
    public consuming func query(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: value, encoder: encoder))) }
    }

    /// Appends names and values of any encodable types to the query, for any method.
    public consuming func query(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: parameters, encoder: encoder))) }
    }

    /// Adds parameters to the query or the body. They are added to the query of a GET, HEAD, DELETE or OPTIONS request,
    /// and of a request that already has a body. For other requests, they are the body, of type
    /// `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary. If encoding fails, the request fails with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A copy with the parameters appended.
    @_disfavoredOverload
    public consuming func parameters(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self
    {
        modified { $0.options.parameters.append(RequestParameters(value: value, encoder: encoder)) }
    }

    /// Adds names and values of any encodable types to the query or the body, depending on the method.
    public consuming func parameters(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.options.parameters.append(RequestParameters(value: parameters, encoder: encoder)) }
    }
}
