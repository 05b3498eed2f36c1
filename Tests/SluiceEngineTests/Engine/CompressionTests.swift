#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    @Suite struct CompressionTests {
        private static let text = String(repeating: "Sluice reads what was squeezed. ", count: 40)
        /// The text, compressed by Python's zlib, Google's brotli and zstd, in Base64.
        private static let compressed = [
            "deflate": "eJwLzinNTE5VKEpNTClWKM9ILFEoTyxWKC4sTU2tSk3RUwgelR+VH5UflR+m8gAUSdIo",
            "gzip": "H4sIAAAAAAACAwvOKc1MTlUoSk1MKVYoz0gsUShPLFYoLixNTa1KTdFTCB6VH5UflR+VH6byAIn8uxMABQAA",
            "br": "G/8E+AVqc6l+SLZiSKIXBiubyGAlkIP1wkHyPSvRJWpfNHnR6jPwKRM=",
            "zstd": "KLUv/WQABE0BAAQCU2x1aWNlIHJlYWRzIHdoYXQgd2FzIHNxdWVlemVkLiABAOhm/OoJNBakWQ==",
        ]

        private static func get(
            _ response: LoopbackResponse,
            from transport: SocketTransport,
            limits: ResponseLimits = ResponseLimits(body: 10_000)
        ) async throws -> (requested: [String], body: Data, metrics: TransferMetrics?) {
            let server = try LoopbackServer()
            server.on("/", response)
            let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/")
            let answer = try await transport.send(request, context: TransferContext(limits: limits))
            let body = try await answer.body.collect()
            let accepted = server.requests.first?.headers[.acceptEncoding] ?? ""
            let encodings = accepted.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return (encodings, body, answer.body.metrics)
        }

        @Test func allCodingsOfAcceptEncodingAreDecoded() async throws {
            let requested = try await Self.get(.text(""), from: SocketTransport()).requested
            #expect(requested.contains("gzip"))
            #expect(requested.contains("deflate"))
            for encoding in requested {
                let data = try #require(Self.compressed[encoding].flatMap { Data(base64Encoded: $0) }, "\(encoding)")
                let answer = try await Self.get(
                    .data(data, headers: ["Content-Encoding": encoding]),
                    from: SocketTransport()
                )
                #expect(String(decoding: answer.body, as: UTF8.self) == Self.text, "\(encoding)")
                #expect(answer.metrics?.bytesReceived == Int64(data.count), "\(encoding)")
            }
        }

        /// Encoded bytes without contents. Each repetition is followed by an end with the contents “x”.
        private static let barren: [(coding: String, unit: [UInt8], end: [UInt8], isPadding: Bool)] = [
            ("gzip", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3] + [UInt8](repeating: 0, count: 9), gzipX, false),
            ("deflate", [0, 0, 0, 0xff, 0xff], [1, 1, 0, 0xfe, 0xff, 0x78], false),
            ("zstd", [0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0] + [UInt8](repeating: 7, count: 8), [], false),
            ("gzip", [0], gzipX, true),
        ]
        private static let gzipX = Array(CodingSamples.gzip(Data("x".utf8)))

        /// A server can send them without end, and no limit on the contents is ever reached.
        @Test(arguments: barren.indices, [false, true])
        func encodedBytesWithoutContentsAreLimited(_ index: Int, isEncodedTwice: Bool) async throws {
            let (inner, unit, end, isPadding) = Self.barren[index]
            let coding = inner + (isEncodedTwice ? ", gzip" : "")
            let limits = ResponseLimits(decompressionRatio: nil)
            for (length, isRefused) in [(100_000, false), (3 << 20, true)] {
                let barren = CodingSamples.repetitions(of: Data(unit), length / unit.count)
                let once = isPadding ? Data(end) + barren : barren + Data(end)
                let data = isEncodedTwice ? CodingSamples.gzip(once) : once
                let response = LoopbackResponse.data(data, headers: ["Content-Encoding": coding])
                do {
                    let body = try await Self.get(response, from: SocketTransport(), limits: limits).body
                    #expect(!isRefused, "\(coding)")
                    #expect(body == Data((end.isEmpty ? "" : "x").utf8), "\(coding)")
                } catch let error as SluiceError {
                    #expect(isRefused && error.code == .bodyTooLarge, "\(coding): \(error)")
                }
            }
        }

        /// A range selects bytes of the encoded body (RFC 9110 §14.2), whose middle cannot be decoded.
        @Test func rangesAreNeitherRequestedEncodedNorDecoded() async throws {
            let server = try LoopbackServer()
            let part = Data([1, 2, 3])
            server.on("/", .data(part, status: .partialContent, headers: ["Content-Encoding": "gzip"]))
            var accepted: [String?] = []
            for headers: HTTPHeaders in [["Range": "bytes=7-9"], ["range": "bytes=7-9", "Accept-Encoding": "gzip"]] {
                let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/", headers: headers)
                let answer = try await SocketTransport().send(request, context: TransferContext())
                #expect(try await answer.body.collect() == part)
                accepted.append(server.requests.last?.headers[.acceptEncoding])
            }
            #expect(accepted == ["identity", "gzip"])
        }

        @Test func disabledDecompressionReturnsTheEncodedBytes() async throws {
            var configuration = SocketTransport.Configuration()
            configuration.decompressesResponses = false
            let data = try #require(Self.compressed["gzip"].flatMap { Data(base64Encoded: $0) })
            let answer = try await Self.get(
                .data(data, headers: ["Content-Encoding": "gzip"]),
                from: SocketTransport(configuration: configuration)
            )
            #expect(answer.requested == [])
            #expect(answer.body == data)
        }

        @Test func bodyLimitAppliesToTheDecodedBody() async throws {
            // 20,000 bytes, compressed to 50.
            let bomb = try #require(
                Data(base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoKzrX8IaHkABAAAAAAAAAAAAAAAAAAAAAAAA8GAxh73KIE4AAA==")
            )
            let error = await #expect(throws: SluiceError.self) {
                try await Self.get(.data(bomb, headers: ["Content-Encoding": "gzip"]), from: SocketTransport())
            }
            #expect(error?.code == .bodyTooLarge)
        }
    }
}
#endif
