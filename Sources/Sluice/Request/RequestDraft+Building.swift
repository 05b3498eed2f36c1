import SluiceHTTP

extension RequestDraft {
    /// What an endpoint says of itself, changed by the client's mapping.
    init(_ endpoint: some Endpoint, _ mapping: APIClient.Configuration.EndpointMapping?) {
        do {
            let draft = try endpoint.draft()
            self = try mapping?(endpoint, draft) ?? draft
        } catch {
            self.init(path: "")
            options.failure = .building(error, "The request could not be described")
        }
    }

    /// Makes the request that goes into the pipeline.
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
                // A type among the client's headers speaks of no body in particular.
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

    /// Where it goes, with all of its query.
    func wholeLocation(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try location(for: pipeline)
        if !query.isEmpty { try location.add(query, pipeline.configuration.formEncoder) }
        if !options.parameters.isEmpty, !hasParametersInBody {
            try location.add(options.parameters.map(QueryPart.encoded), pipeline.configuration.formEncoder)
        }
        return location
    }

    /// Whether its parameters are its body.
    var hasParametersInBody: Bool {
        body == nil && method.takesParametersInBody && !options.parameters.isEmpty
    }

    /// The client's headers; without those that hold secrets where the path, which a server may have given, led away from the
    /// base URL's origin.
    private func defaultHeaders(at location: RequestLocation, of pipeline: Pipeline) -> HTTPHeaders {
        let headers = pipeline.configuration.headers
        guard location.isFromPath, options.host == nil, options.baseURL == nil,
            case .success(let base) = pipeline.base,
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
