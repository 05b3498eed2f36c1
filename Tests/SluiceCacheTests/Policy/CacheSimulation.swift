import Foundation
import SluiceHTTP

@testable import SluiceCache

/// A client with a cache, without real time and network. It applies the rules in the simplest way.
final class CacheSimulation {
    /// The response of a server to a request.
    typealias Server = (HTTPRequest) -> (head: HTTPResponse, body: String)

    struct Answer {
        let head: HTTPResponse
        let body: String
        /// The requests that were sent.
        let sent: [HTTPRequest]
        /// The way in which the cache served the response; nil for a response from the server.
        var serving: ServableResponse?

        var status: String { head.headers[.cacheStatus] ?? "" }
    }

    let rules: CacheRules
    private(set) var entries: [String: [CacheEntry]] = [:]

    init(_ options: HTTPCaching = HTTPCaching(), mode: CacheMode = .private, _ entries: [String: [CacheEntry]] = [:]) {
        rules = CacheRules(options, mode: mode)
        self.entries = entries
    }

    /// Returns the entries for a request's name, the most recently stored first.
    func kept(_ request: HTTPRequest = CacheFixture.request()) -> [CacheEntry] {
        entries[CacheRules.name(of: request)] ?? []
    }

    /// Sends a request at a time. The server returns nil to simulate a network failure.
    func send(
        _ request: HTTPRequest = CacheFixture.request(),
        at seconds: Double,
        identity: String? = nil,
        _ server: Server?
    ) -> Answer? {
        let now = CacheFixture.at(seconds)
        let isAuthorized = request.headers.contains(.authorization)
        let plan = rules.plan(
            for: request,
            identity: identity,
            isAuthorized: isAuthorized,
            stored: kept(request),
            now: now
        )
        switch plan {
        case .serve(let serving):
            return Self.answer(serving, [])
        case .serveWhileRevalidating(let serving, let forwarding):
            let background = server.flatMap { forward(forwarding, now, [], $0) }
            return Self.answer(serving, background?.sent ?? [])
        case .refuse(let head):
            return Answer(head: head, body: "", sent: [])
        case .send(let forwarding):
            if let server { return forward(forwarding, now, [], server) }
            return rules.servableResponse(for: forwarding, now: now).map { Self.answer($0, []) }
        }
    }

    private func forward(
        _ forwarding: ConditionalRequest,
        _ now: Date,
        _ sent: [HTTPRequest],
        _ server: Server
    ) -> Answer? {
        let sent = sent + [forwarding.sent]
        guard sent.count < 4 else { return nil }
        let (head, body) = server(forwarding.sent)
        let reception = rules.update(for: head, to: forwarding, requested: now, received: now)
        apply(reception, forwarding, Data(body.utf8), now)
        switch reception.answer {
        case .response(let head): return Answer(head: head, body: body, sent: sent)
        case .stored(let serving): return Self.answer(serving, sent)
        case .combined(let head, let pieces):
            // A truncated body is discarded.
            guard reception.receivedCount == Int64(body.utf8.count) else { return nil }
            return Answer(head: head, body: String(decoding: pieces.bytes(Data(body.utf8)), as: UTF8.self), sent: sent)
        case .again(let next): return forward(next, now, sent, server)
        }
    }

    private func apply(
        _ reception: CacheUpdate,
        _ forwarding: ConditionalRequest,
        _ body: Data,
        _ now: Date
    ) {
        let name = CacheRules.name(of: forwarding.request)
        var kept = entries[name] ?? []
        kept.removeAll { reception.removing.contains($0.variant) }
        for storing in reception.storing {
            if let count = storing.receivedCount, count != Int64(body.count) { continue }
            kept.removeAll { $0.variant == storing.variant }
            let entry = CacheEntry(
                key: CacheKey(name, in: .http),
                variant: storing.variant,
                response: storing.response,
                body: storing.body.bytes(body),
                stored: now
            )
            kept.insert(entry, at: 0)
        }
        entries[name] = kept
        for name in reception.invalidating { entries[name] = nil }
    }

    private static func answer(_ serving: ServableResponse, _ sent: [HTTPRequest]) -> Answer {
        let body = serving.isBodiless ? "" : String(decoding: serving.body, as: UTF8.self)
        return Answer(head: serving.head, body: body, sent: sent, serving: serving)
    }
}

extension CacheBody {
    /// Returns the body for the received bytes.
    func bytes(_ received: Data) -> Data {
        switch self {
        case .received: received
        case .stored(let entry): entry.body
        case .combined(let pieces, let entry):
            pieces.reduce(into: Data()) { whole, piece in
                switch piece {
                case .received: whole += received
                case .stored(let range): whole += entry.body.dropFirst(range.lowerBound).prefix(range.count)
                }
            }
        }
    }
}
