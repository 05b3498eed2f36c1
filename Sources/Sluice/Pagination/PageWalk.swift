import SluiceFoundation
import SluiceHTTP

/// Iterates over pages. Requests a page when the caller asks for it, or one page ahead if prefetching is enabled.
final class PageWalk<Model: Sendable, ErrorModel: ErrorSerializable> {
    typealias Request = APIRequest<Model, ErrorModel>
    typealias Response = APIResponse<Model, ErrorModel>

    private enum Position {
        /// The next page has not been requested yet.
        case before(Request)
        /// The next page has been requested in advance.
        case prefetched(PendingResponse<Model, ErrorModel>, Request)
        /// The response may lead to another page.
        case after(Response, Request)
        case failed(SluiceError)
        case over
    }

    private let pages: Pages<Model, ErrorModel>
    private var position: Position
    private var history = PageHistory()
    /// The origin of the first page.
    private var origin: HTTPOrigin?
    private var pageCount = 0
    private var itemCount = 0

    init(_ pages: Pages<Model, ErrorModel>) {
        self.pages = pages
        position = pages.limit ?? 1 > 0 ? .before(pages.request) : .over
    }

    /// Returns the next page, or nil after the last one and after an error.
    func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Response? {
        while true {
            switch position {
            case .over:
                return nil
            case .failed(let error):
                position = .over
                _ = try Response(failure: error, of: SentRequest(pages.request)).result.get()
            case .after(let response, let request):
                advance(from: response, to: request)
            case .before(let request):
                return try receive(await request.sender().response, request)
            case .prefetched(let pending, let request):
                return try receive(await pending.value, request)
            }
        }
    }

    private func receive(_ response: Response, _ request: Request) throws(ErrorModel) -> Response {
        do {
            _ = try response.result.get()
        } catch {
            position = .over
            throw error
        }
        pageCount += 1
        guard pageCount < pages.limit ?? .max else {
            position = .over
            return response
        }
        position = .after(response, request)
        if pages.prefetch {
            advance(from: response, to: request)
            if case .before(let request) = position {
                position = .prefetched(PendingResponse(request.sender()), request)
            }
        }
        return response
    }

    /// Determines the request for the page after a response.
    private func advance(from response: Response, to request: Request) {
        do throws(SluiceError) {
            if origin == nil {
                let first = try request.httpRequest()
                origin = first.origin
                try history.add(first)
            }
            guard let next = try successor(of: response, to: request) else { return position = .over }
            try history.add(next.httpRequest())
            position = .before(next)
        } catch {
            position = .failed(error.with(request: response.request, response: response.head))
        }
    }

    private func successor(of response: Response, to request: Request) throws(SluiceError) -> Request? {
        switch pages.rule {
        case .custom(let next):
            do {
                return try next(response, request)
            } catch {
                if let error = error as? SluiceError { throw error }
                let reason = "The closure that returns the request for the next page threw an error."
                throw SluiceError(.paginationFailed, reason, step: .recovery, underlyingError: error)
            }
        case .strategy(let pagination):
            guard let origin, case .success(let model) = response.result else { return nil }
            let received = try response.received()
            let items = max(0, pagination.count?(model) ?? 0)
            let (total, isOver) = itemCount.addingReportingOverflow(items)
            itemCount = isOver ? .max : total
            let next = try pagination.next(
                PageView(model: model, response: received, number: pageCount, items: items, total: itemCount)
            )
            let draft = try request.draft.next(
                next,
                from: received.request,
                isRedirected: received.isRedirected,
                origin: origin,
                followsOtherOrigins: pages.followsOtherOrigins,
                for: request.client.pipeline
            )
            return draft.map { APIRequest(request, $0, request.serializer) }
        }
    }
}

/// The requests sent so far, used to detect a page that leads back to an earlier one.
struct PageHistory: Sendable {
    /// A digest of a request, which is short however long the request is. The hashes have random seeds, so that no server can construct
    /// requests with the same digest.
    private struct Digest: Hashable, Sendable {
        let first: Int
        let second: Int

        init(_ request: HTTPRequest, _ body: Data?) {
            func hash(_ salt: Int) -> Int {
                var hasher = Hasher()
                hasher.combine(salt)
                hasher.combine(request.method)
                hasher.combine(request.url)
                hasher.combine(request.headers)
                hasher.combine(body)
                return hasher.finalize()
            }
            first = hash(1)
            second = hash(2)
        }
    }

    private var entries: Set<Digest> = []

    /// Records a request.
    ///
    /// - Parameter request: The request that is sent next.
    /// - Throws: ``SluiceError/Code/paginationLoop`` if the same request has been sent before.
    mutating func add(_ request: HTTPRequest) throws(SluiceError) {
        let body: Data?
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        // A stream may have different content each time.
        case .file, .stream, .deferred, .encoded: return
        }
        guard entries.insert(Digest(request, body)).inserted else {
            throw SluiceError(
                .paginationLoop,
                "The pages form a loop: page \(entries.count) leads back to an earlier page.",
                step: .recovery,
                request: request
            )
        }
    }
}
