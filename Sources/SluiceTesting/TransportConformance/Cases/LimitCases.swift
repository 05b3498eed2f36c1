import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for limits on the size of a response.
    static let limitCases: [Case] = [
        Case("A head over the limit fails with headersTooLarge") { trial in
            for headers in [bulky(fields: 1, of: 5000), bulky(fields: 100, of: 50)] {
                try await trial.expectFailure(.headersTooLarge) {
                    let context = TransferContext(limits: ResponseLimits(headers: 4096))
                    _ = try await trial.get(.text("", headers: headers), context: context)
                }
            }
        },
        Case("A head that never ends fails with headersTooLarge") { trial in
            let line = Data("X-More: \(String(repeating: "x", count: 1000))\r\n".utf8)
            let head = Data("HTTP/1.1 200 OK\r\n".utf8) + (0..<1000).reduce(into: Data()) { data, _ in data += line }
            try await trial.expectFailure(.headersTooLarge) {
                _ = try await trial.get(.script(.write(head), .hang))
            }
        },
        Case("A head under the limit arrives") { trial in
            let headers = bulky(fields: 20, of: 1000)
            let answer = try await trial.get(.text("ok", headers: headers))
            try trial.expectEqual(answer.head.headers.values(for: "X-Bulk").count, 20, "The number of headers")
        },
        Case("A body over the limit fails with bodyTooLarge, announced or not") { trial in
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            for response in [
                LoopbackResponse.data(.pattern(1001)), .chunked([.pattern(500), .pattern(501)]),
                .untilClose(.pattern(1001)), .partial(.pattern(10), announced: 1_000_000),
                .endless(chunk: .pattern(100)),
            ] {
                try await trial.expectFailure(.bodyTooLarge) {
                    _ = try await trial.get(response, context: context)
                }
                await trial.wait(for: "the transport to close the connection of the body over the limit") {
                    await trial.server.waitForOpenConnections { $0 <= 1 }
                }
            }
        },
        Case("A body at the limit arrives") { trial in
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            for response in [LoopbackResponse.data(.pattern(1000)), .chunked([.pattern(500), .pattern(500)])] {
                let answer = try await trial.get(response, context: context)
                try trial.expectEqual(answer.body.count, 1000, "The body's length")
            }
        },
        Case("The limit on bodies is none for HEAD") { trial in
            trial.server.on("/", .data(.pattern(2000)))
            let context = TransferContext(limits: ResponseLimits(body: 1000))
            let answer = try await trial.exchange(trial.request(.head), context: context)
            try trial.expectEqual(answer.head.headers[.contentLength], "2000", "The Content-Length")
        },
    ]

    private static func bulky(fields: Int, of length: Int) -> HTTPHeaders {
        HTTPHeaders((0..<fields).map { _ in ("X-Bulk", String(repeating: "x", count: length)) })
    }
}
