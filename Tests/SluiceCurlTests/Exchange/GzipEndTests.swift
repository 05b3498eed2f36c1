#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCurl

@Suite struct GzipEndTests {
    private static let text = String(repeating: "Sluice reads what was squeezed. ", count: 40)
    private static let gzip = Data(
        base64Encoded:
            "H4sIAAAAAAACAwvOKc1MTlUoSk1MKVYoz0gsUShPLFYoLixNTa1KTdFTCB6VH5UflR+VH6byAIn8uxMABQAA"
    )

    private static func get(_ response: LoopbackResponse) async throws -> String {
        let server = try LoopbackServer()
        server.on("/", response)
        let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/")
        let body = try await CurlTransport().send(request, context: TransferContext()).body.collect()
        return String(decoding: body, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 100])
    func theEndIsSeenInPiecesOfAnySize(size: Int) throws {
        var rest = try #require(Self.gzip)[...]
        var end = GzipEnd()
        while !rest.isEmpty {
            #expect(end.isCutShort(decoded: Int64(Self.text.utf8.count)))
            rest.prefix(size).withUnsafeBytes { end.take($0) }
            rest = rest.dropFirst(size)
        }
        #expect(!end.isCutShort(decoded: Int64(Self.text.utf8.count)))
        #expect(end.isCutShort(decoded: Int64(Self.text.utf8.count) - 1))
    }

    @Test func aBodyThatEndsBeforeItsStreamFails() async throws {
        let gzip = try #require(Self.gzip)
        let headers: HTTPHeaders = ["Content-Encoding": "gzip"]
        #expect(try await Self.get(.untilClose(gzip, headers: headers)) == Self.text)
        #expect(try await Self.get(.data(gzip, headers: headers)) == Self.text)
        #expect(try await Self.get(.chunked([gzip], headers: headers)) == Self.text)
        for response in [LoopbackResponse.untilClose(_:headers:), { .data($0, headers: $1) }] {
            for count in [1, 10, 11, 40, gzip.count - 1] {
                try await expectError(.truncatedBody) { try await Self.get(response(gzip.prefix(count), headers)) }
            }
        }
    }

    @Test func whatComesBehindTheBodyIsNotItsEnd() async throws {
        let gzip = try #require(Self.gzip)
        let headers: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "\(gzip.count)"]
        #expect(try await Self.get(.data(gzip + Data("more".utf8), headers: headers)) == Self.text)
        let short: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "\(gzip.count - 10)"]
        try await expectError(.truncatedBody) { try await Self.get(.data(gzip, headers: short)) }
    }

    @Test func noBodyIsNoStream() async throws {
        #expect(try await Self.get(.data(Data(), headers: ["Content-Encoding": "gzip"])) == "")
        #expect(try await Self.get(.status(.noContent, headers: ["Content-Encoding": "gzip"])) == "")
    }
}
#endif
