@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON
@testable import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses an HTTP archive. It survives writing and reading.
    static let har = FuzzTarget("har") { bytes in
        guard let har = try? HAR(parsing: Data(bytes)) else { return }
        let written = try har.data()
        let again = try HAR(parsing: written)
        try require(again.entries.count == har.entries.count, "The number of entries differs.")
        try require(try again.data() == written, "Writing is not stable.")
    }

    /// Parses an archive for replay. Every cassette can hold it.
    static let harArchive = FuzzTarget("har-archive") { bytes in
        guard let archive = try? HARArchive(Data(bytes)) else { return }
        try checkCassette(Cassette(exchanges: archive.exchanges))
    }

    /// Parses a cassette. It survives writing and reading, also after redaction.
    static let cassette = FuzzTarget("cassette") { bytes in
        guard let cassette = try? Cassette(Data(bytes)) else { return }
        try checkCassette(cassette)
    }

    private static func checkCassette(_ cassette: Cassette) throws {
        let written = cassette.data
        let again = try Cassette(written)
        try require(again.exchanges.count == cassette.exchanges.count, "The number of exchanges differs.")
        for (exchange, own) in zip(again.exchanges, cassette.exchanges) {
            try require(exchange.request.url.isSame(as: own.request.url), "URLs differ.")
            try require(exchange.request.method == own.request.method, "Methods differ.")
            try require(exchange.request.headers == own.request.headers, "Request headers differ.")
            switch (exchange.result, own.result) {
            case (.success(let response), .success(let own)):
                try require(response.head.status == own.head.status, "Statuses differ.")
                // `Content-Length` follows the body in the file.
                let headers = [response.head.headers, own.head.headers].map { $0.filter { $0.name != .contentLength } }
                try require(headers[0] == headers[1], "Response headers differ.")
                if !own.head.headers.isJSON { try require(response.body == own.body, "Bodies differ.") }
            case (.failure(let error), .failure(let own)):
                try require(error.code == own.code && error.reason.isSame(as: own.reason), "Errors differ.")
            default: throw InvariantViolation(description: "One result is an error, the other a response.")
            }
        }
        try require(again.data == written, "Writing is not stable.")
        let redacted = again.exchanges.map { CassetteRedaction.standard.redacted($0) }
        let twice = redacted.map { CassetteRedaction.standard.redacted($0) }
        try require(
            Cassette(exchanges: twice).data == Cassette(exchanges: redacted).data,
            "Redaction is not idempotent."
        )
    }

    /// Redacts a URL, a header value, a `Content-Type` and a body. No secret remains, and a second redaction changes nothing.
    static let cassetteRedaction = FuzzTarget("cassette-redaction") { bytes in
        var input = FuzzInput(bytes)
        let (url, value, type) = (input.line(), input.line(), input.line())
        let text = input.text
        let redaction = CassetteRedaction.standard
        guard ![url, value, type, text].contains(where: { $0.containsBytes(of: secret) }) else { return }
        let exchange = recorded(url, ["Location": value, "X": value, "Link": "<\(value)>"], type, input.data)
        let once = redaction.redacted(exchange)
        let twice = redaction.redacted(once)
        try require(twice.request.url.isSame(as: once.request.url), "Redaction of the URL is not idempotent.")
        try require(twice.request.headers == once.request.headers, "Redaction of the headers is not idempotent.")
        try require(twice.request.body == once.request.body, "Redaction of the body is not idempotent.")
        // Text after a second question mark is searched for secrets only if the value is a URL.
        guard ![url, value].contains(where: { $0.utf8.contains { "?#".utf8.contains($0) } }) else { return }
        let name = ["access_token", "password", "client_secret"].randomElement(using: &input.random) ?? ""
        let bodies = [
            ("application/x-www-form-urlencoded", "\(text)&\(name)=\(secret)&\(text)"),
            ("application/json", "{\(JSON.string(text).formatted(.compact)): {\"\(name)\": [\"\(secret)\"]}}"),
        ]
        for (type, body) in bodies {
            let fields: HTTPHeaders = ["Location": "\(value)?\(name)=\(secret)", "X": "\(value) http://a:\(secret)@b/"]
            let redacted = redaction.redacted(
                recorded(
                    "http://ada:\(secret)@example.com/\(url)?\(name)=\(secret)#\(value)",
                    fields,
                    type,
                    Data(body.utf8)
                )
            )
            let written = String(decoding: Cassette(exchanges: [redacted]).data, as: UTF8.self)
            try require(!written.containsBytes(of: secret), "A cassette contains a secret: \(written)")
        }
    }

    private static func recorded(_ url: String, _ headers: HTTPHeaders, _ type: String, _ body: Data)
        -> RecordedExchange
    {
        var headers = headers
        headers.append(.contentType, type)
        return RecordedExchange(
            request: RecordedRequest(method: .post, url: url, headers: headers, body: body),
            result: .success(RecordedExchange.Response(head: HTTPResponse(status: .ok, headers: headers), body: body))
        )
    }
}
