import Foundation
import SluiceHTTP

@testable import SluiceCache

/// Requests, responses and entries relative to one time, 2001-09-09 01:46:40 GMT.
enum CacheFixture {
    static let start = Date(timeIntervalSince1970: 1_000_000_000)

    /// Returns the time a number of seconds later.
    static func at(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    /// Returns the same time as an HTTP date.
    static func date(_ seconds: Double) -> String { HTTPDate.string(from: at(seconds)) }

    static func request(
        _ headers: HTTPHeaders = [:],
        method: HTTPMethod = .get,
        path: String = "/a",
        body: RequestBody = .none
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "a.b", path: path, headers: headers, body: body)
    }

    /// Returns a response head, with a `Date` field if it has none.
    static func head(_ headers: HTTPHeaders, status: HTTPStatus = 200, date seconds: Double = 0) -> HTTPResponse {
        var headers = headers
        if !headers.contains(.date) { headers.append(.date, date(seconds)) }
        return HTTPResponse(status: status, headers: headers)
    }

    static func stored(
        _ headers: HTTPHeaders,
        status: HTTPStatus = 200,
        path: String = "/a",
        identity: String? = nil,
        received: Double = 0,
        part: StoredPart? = nil
    ) -> StoredResponse {
        StoredResponse(
            method: .get,
            url: "https://a.b\(path)",
            identity: identity,
            head: head(headers, status: status, date: received),
            requested: at(received),
            received: at(received),
            part: part
        )
    }

    /// Returns the entry that is stored for a response to a request.
    static func entry(
        _ headers: HTTPHeaders,
        status: HTTPStatus = 200,
        for request: HTTPRequest = request(),
        identity: String? = nil,
        received: Double = 0,
        part: StoredPart? = nil,
        body: String = "0123456789"
    ) -> CacheEntry {
        let response = stored(
            headers,
            status: status,
            path: request.path,
            identity: identity,
            received: received,
            part: part
        )
        return CacheEntry(
            key: CacheKey(CacheRules.name(of: request), in: .http),
            variant: response.metadata.variant(of: request) ?? "?",
            response: response,
            body: Data(body.utf8),
            stored: at(received)
        )
    }
}

extension HTTPHeaders {
    /// Parses fields as they are on the wire, one a line. `{60}` is the date a minute after the fixture's start.
    init(lines text: String) {
        self.init()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            var value = parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
            while let open = value.firstIndex(of: "{"), let close = value.firstIndex(of: "}"),
                let seconds = Double(value[value.index(after: open)..<close])
            {
                value.replaceSubrange(open...close, with: CacheFixture.date(seconds))
            }
            append(HTTPHeaderName(String(parts[0])), value)
        }
    }
}

extension CachePlan {
    /// A summary: `hit`, `stale`, `swr`, `refused`, or the reason and the purpose of sending the request.
    var kind: String {
        switch self {
        case .serve(let serving): serving.isStale ? "stale" : "hit"
        case .serveWhileRevalidating: "swr"
        case .refuse: "refused"
        case .send(let forwarding): "\(forwarding.reason.rawValue) \(forwarding.purpose)"
        }
    }

    var servableResponse: ServableResponse? {
        switch self {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): serving
        case .send, .refuse: nil
        }
    }

    var conditionalRequest: ConditionalRequest? {
        switch self {
        case .send(let forwarding), .serveWhileRevalidating(_, let forwarding): forwarding
        case .serve, .refuse: nil
        }
    }
}

extension CacheUpdate {
    var served: ServableResponse? {
        if case .stored(let serving) = answer { serving } else { nil }
    }

    var response: HTTPResponse? {
        if case .response(let head) = answer { head } else { nil }
    }

    var again: ConditionalRequest? {
        if case .again(let forwarding) = answer { forwarding } else { nil }
    }
}

extension ServableResponse {
    /// True if the head is returned without a body.
    var isBodiless: Bool {
        switch form {
        case .whole, .part: false
        case .head, .notModified, .unsatisfiable: true
        }
    }
}
