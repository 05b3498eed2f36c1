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
        try promise(again.log.entries.count == har.log.entries.count, "There are other entries.")
        try promise(try again.data() == written, "It is written in another way.")
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
        try promise(again.exchanges.count == cassette.exchanges.count, "There are other exchanges.")
        for (exchange, own) in zip(again.exchanges, cassette.exchanges) {
            try promise(exchange.request.url.isSame(as: own.request.url), "A URL is another.")
            try promise(exchange.request.method == own.request.method, "A method is another.")
            try promise(exchange.request.headers == own.request.headers, "Headers are others.")
            switch (exchange.result, own.result) {
            case (.success(let response), .success(let own)):
                try promise(response.head.status == own.head.status, "A status is another.")
                // `Content-Length` follows the body in the file.
                let headers = [response.head.headers, own.head.headers].map { $0.filter { $0.name != .contentLength } }
                try promise(headers[0] == headers[1], "Headers of a response are others.")
                if !own.head.headers.isJSON { try promise(response.body == own.body, "A body is another.") }
            case (.failure(let error), .failure(let own)):
                try promise(error.code == own.code && error.reason.isSame(as: own.reason), "An error is another.")
            default: throw BrokenPromise(description: "A result is of another kind.")
            }
        }
        try promise(again.data == written, "It is written in another way.")
        let redacted = again.exchanges.map { CassetteRedaction.standard.redacted($0) }
        let twice = redacted.map { CassetteRedaction.standard.redacted($0) }
        try promise(Cassette(exchanges: twice).data == Cassette(exchanges: redacted).data, "It is redacted twice.")
    }

    /// Redacts a URL, a header value, a `Content-Type` and a body. No secret remains, and a second redaction changes nothing.
    static let cassetteRedaction = FuzzTarget("cassette-redaction") { bytes in
        var input = FuzzInput(bytes)
        let (url, value, type) = (input.line(), input.line(), input.line())
        let text = input.text
        let redaction = CassetteRedaction.standard
        guard ![url, value, type, text].contains(where: { $0.holds(secret) }) else { return }
        let exchange = recorded(url, ["Location": value, "X": value, "Link": "<\(value)>"], type, input.data)
        let once = redaction.redacted(exchange)
        let twice = redaction.redacted(once)
        try promise(twice.request.url.isSame(as: once.request.url), "A URL is redacted twice.")
        try promise(twice.request.headers == once.request.headers, "A header is redacted twice.")
        try promise(twice.request.body == once.request.body, "A body is redacted twice.")
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
            try promise(!written.holds(secret), "A secret gets to a cassette: \(written)")
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
