import SluiceHTTP

extension RequestDraft {
    /// Creates the draft of an endpoint, changed by the client's mapping.
    init(_ endpoint: some Endpoint, _ mapping: APIClient.Configuration.EndpointMapping?) {
        do {
            let draft = try endpoint.draft()
            self = try mapping?(endpoint, draft) ?? draft
        } catch {
            self.init(path: "")
            options.failure = .building(error, "The request could not be described")
        }
    }

    /// Builds the request that enters the pipeline.
    func build(for pipeline: Pipeline) throws(SluiceError) -> HTTPRequest {
        if let failure = options.failure { throw failure }
        let location = try wholeLocation(for: pipeline)
        let body = hasParametersInBody ? .form(options.parameters) : body
        var request = HTTPRequest(
            method: method,
            scheme: location.scheme,
            authority: location.authority,
            path: location.target,
            headers: mergedHeaders(with: defaultHeaders(at: location, of: pipeline))
        )
        if let body {
            if let contentType = body.contentType, !headers.contains(.contentType) {
                // The body's type replaces a Content-Type among the client's headers.
                request.headers[.contentType] = contentType
            }
            do {
                request.body = try body.encode(pipeline.configuration)
            } catch let error as SluiceError {
                throw error.with(request: request)
            } catch {
                throw .bodyEncoding(error).with(request: request)
            }
        }
        guard let mapping = pipeline.configuration.requestMapping else { return request }
        do {
            return try mapping(request)
        } catch {
            throw .building(error, "The request could not be mapped").with(request: request)
        }
    }

    /// Returns the location with the whole query.
    func wholeLocation(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try location(for: pipeline)
        if !query.isEmpty { try location.add(query, pipeline.configuration.formEncoder) }
        if !options.parameters.isEmpty, !hasParametersInBody {
            try location.add(options.parameters.map(QueryPart.encoded), pipeline.configuration.formEncoder)
        }
        return location
    }

    /// True if the parameters are sent as the body.
    var hasParametersInBody: Bool {
        body == nil && method.takesParametersInBody && !options.parameters.isEmpty
    }

    /// Returns the client's headers. Headers with secrets are removed if the path, which may come from a server, leads
    /// to another origin than the request's or the client's base URL.
    private func defaultHeaders(at location: RequestLocation, of pipeline: Pipeline) -> HTTPHeaders {
        let headers = pipeline.configuration.headers
        guard location.isFromPath, options.host == nil, let base = try? base(for: pipeline),
            HTTPOrigin(scheme: location.scheme, authority: location.authority)
                != HTTPOrigin(scheme: base.scheme, authority: base.authority)
        else { return headers }
        var harmless = headers
        for name in [.authorization, .cookie, .proxyAuthorization] + pipeline.steps.secretHeaders {
            harmless.remove(name)
        }
        return harmless
    }

    private func mergedHeaders(with defaults: HTTPHeaders) -> HTTPHeaders {
        if headers.isEmpty { return defaults }
        var merged = HTTPHeaders()
        for field in defaults where !headers.contains(field.name) { merged.append(field) }
        merged.append(contentsOf: headers)
        return merged
    }
}
