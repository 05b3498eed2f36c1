import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for the metrics of a transfer.
    static let metricsCases: [Case] = [
        Case("Metrics say how much was received, whatever the framing") { trial in
            for response in [
                LoopbackResponse.data(.pattern(12_345)), .chunked([.pattern(12_000), .pattern(345)]),
                .untilClose(.pattern(12_345)),
            ] {
                let metrics = try await trial.get(response).metrics
                try trial.expectEqual(metrics?.bytesReceived, 12_345, "The bytes received")
                try trial.expect(metrics.map { $0.total > .zero } ?? false, "The total time is zero or unknown.")
                try trial.expectEqual(metrics?.version, .http1_1, "The version")
            }
        },
        Case("Metrics say how much was sent") { trial in
            trial.server.on("/", .text("ok"))
            let stream = HTTPBody.stream(ScriptedChunks(chunks: [.pattern(1000), .pattern(234)]))
            for body in [HTTPBody.data(.pattern(1234)), stream] {
                let metrics = try await trial.exchange(trial.request(.put, body: body)).metrics
                try trial.expectEqual(metrics?.bytesSent, 1234, "The bytes sent")
            }
        },
        Case("Metrics' times are in their order and include the server's") { trial in
            let response = LoopbackResponse.delayed(by: .milliseconds(50), .text("late"))
            let metrics = try await trial.get(response).metrics ?? TransferMetrics()
            try trial.expect(metrics.firstByte >= .milliseconds(45), "The first byte came after \(metrics.firstByte).")
            try trial.expect(metrics.connect <= metrics.firstByte, "The first byte came before the connection.")
            try trial.expect(metrics.firstByte <= metrics.total, "The last byte came before the first.")
        },
        Case("Metrics say whether a connection was used again and to where it leads") { trial in
            let first = try await trial.get(.text("1")).metrics
            let second = try await trial.get(.text("2")).metrics
            try trial.expectEqual(first?.isConnectionReused, false, "The first request's reuse")
            try trial.expectEqual(second?.isConnectionReused, true, "The second request's reuse")
            try trial.expectEqual(second?.remoteAddress, trial.server.authority, "The remote address")
        },
        Case("Metrics are there when a body was read chunk by chunk") { trial in
            trial.server.on("/", .data(.pattern(300_000)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            for try await _ in response.body {}
            try trial.expectEqual(response.body.metrics?.bytesReceived, 300_000, "The bytes received")
        },
    ]
}
