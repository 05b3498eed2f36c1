import SluiceHTTP

extension RequestDraft {
    /// What an endpoint says of itself, changed by the client's mapping.
    init(_ endpoint: some Endpoint, _ mapping: APIClient.Configuration.EndpointMapping?) {
        do {
            let draft = try endpoint.draft()
            self = try mapping?(endpoint, draft) ?? draft
        } catch {
            self.init(path: "")
            failure = .building(error, "The request could not be described")
        }
    }

    /// Makes the request that goes into the pipeline.
    func build(for pipeline: Pipeline) throws(SluiceError) -> HTTPRequest {
        if let failure { throw failure }
        let configuration = pipeline.configuration
        let formEncoder = configuration.formEncoder
        var query = query
        var body = body
        if !parameters.isEmpty {
            if body == nil && method.takesParametersInBody {
                body = .form(parameters)
            } else {
                query += parameters.map(QueryPart.encoded)
            }
        }
        var location = try location(for: pipeline)
        try location.add(query, formEncoder)
        var request = HTTPRequest(
            method: method,
            scheme: location.scheme,
            authority: location.authority,
            path: location.target,
            headers: mergedHeaders(with: configuration.headers)
        )
        if let body {
            if let contentType = body.contentType, !request.headers.contains(.contentType) {
                request.headers.append(.contentType, contentType)
            }
            do {
                request.body = try body.encode(configuration)
            } catch let error as SluiceError {
                throw error.with(request: request)
            } catch {
                throw .bodyEncoding(error).with(request: request)
            }
        }
        guard let mapping = configuration.requestMapping else { return request }
        do {
            return try mapping(request)
        } catch {
            throw .building(error, "The request could not be mapped").with(request: request)
        }
    }

    private func mergedHeaders(with defaults: HTTPHeaders) -> HTTPHeaders {
        if headers.isEmpty { return defaults }
        var merged = HTTPHeaders()
        for field in defaults where !headers.contains(field.name) { merged.append(field.name, field.value) }
        merged.append(contentsOf: headers)
        return merged
    }
}
