#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Decoding stops early for bodies with an extreme compression ratio.
    @Suite struct DecompressionRatioTests {
        private static let matches = 65_000
        /// Zeros, compressed by a factor of 158: a deflate block of fixed codes (RFC 1951 §3.2.6) with one literal 0 and matches
        /// of 258 bytes.
        private static let bomb: Data = {
            var bytes = Data()
            var bits = 0
            var count = 0
            let put = { (code: String) in
                for bit in code {
                    if bit == "1" { bits |= 1 << count }
                    count += 1
                    if count == 8 {
                        bytes.append(UInt8(bits))
                        (bits, count) = (0, 0)
                    }
                }
            }
            put("110" + "00110000")
            for _ in 0..<matches { put("11000101" + "00000") }
            put("0000000" + "0000000")
            return bytes
        }()

        private func body(
            _ limits: ResponseLimits,
            of data: Data = DecompressionRatioTests.bomb,
            coding: String = "deflate",
            inChunks: Bool = false
        ) async throws -> Data {
            let server = try LoopbackServer()
            let headers: HTTPHeaders = ["Content-Encoding": coding]
            server.on("/", inChunks ? .chunked([data], headers: headers) : .data(data, headers: headers))
            let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/")
            return try await SocketTransport().send(request, context: TransferContext(limits: limits)).body.collect()
        }

        @Test func excessiveRatioFailsTheTransfer() async throws {
            let error = await #expect(throws: SluiceError.self) {
                _ = try await body(ResponseLimits(decompressionRatio: 100))
            }
            #expect(error?.code == .bodyTooLarge)
            #expect(error?.reason.contains("decompression") == true)
            let inChunks = await #expect(throws: SluiceError.self) {
                _ = try await body(ResponseLimits(decompressionRatio: 50), inChunks: true)
            }
            #expect(inChunks?.code == .bodyTooLarge)
        }

        @Test func ratioCanBeRaisedOrDisabled() async throws {
            for ratio in [160, nil] {
                for inChunks in [false, true] {
                    let body = try await body(ResponseLimits(decompressionRatio: ratio), inChunks: inChunks)
                    #expect(body == Data(count: 1 + 258 * Self.matches))
                }
            }
        }

        /// The contents have 30 KiB, the bytes between the codings more than 1 MiB.
        @Test func ratioAppliesBetweenTwoCodings() async throws {
            let data = CodingSamples.gzip(CodingSamples.slowRaw(30 << 10))
            let error = await #expect(throws: SluiceError.self) {
                _ = try await body(ResponseLimits(decompressionRatio: 100), of: data, coding: "deflate, gzip")
            }
            #expect(error?.code == .bodyTooLarge)
            let decoded = try await body(ResponseLimits(decompressionRatio: nil), of: data, coding: "deflate, gzip")
            #expect(decoded.count == 30 << 10)
        }

        @Test(
            arguments: [
                (1 << 20, 1, false), ((1 << 20) + 1, 1, true), (2 << 20, 2 << 20, false), (200 << 20, 1 << 20, false),
                (201 << 20, 1 << 20, true),
            ] as [(Int64, Int64, Bool)]
        )
        func ratioIsCheckedBeyondOneMebibyte(_ long: Int64, _ short: Int64, _ isTooDense: Bool) {
            #expect(ResponseLimits().exceedsDecompressionRatio(long, of: short) == isTooDense)
            #expect(!ResponseLimits(decompressionRatio: nil).exceedsDecompressionRatio(long, of: short))
        }
    }
}
#endif
