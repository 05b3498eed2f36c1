import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for bodies that are large, not read, or dropped.
    static let backPressureCases: [Case] = [
        Case("A body of 20 MB arrives whole, chunk by chunk") { trial in
            let data = Data.pattern(20_000_000)
            trial.server.on("/", .data(data))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            var count = 0
            for try await chunk in response.body {
                try trial.expect(!chunk.isEmpty, "A chunk is empty.")
                let isNext = count + chunk.count <= data.count && data[count..<count + chunk.count] == chunk
                try trial.expect(isNext, "The chunk at \(count) is not the one that was sent.")
                count += chunk.count
            }
            try trial.expectEqual(count, data.count, "The body's length")
        },
        Case("A body that is not read holds the server back, and one that is dropped stops it") { trial in
            try await trial.readThreeChunksOfAnEndlessBody { response in
                try await trial.expectStall()
                _ = response
            }
            await trial.waitForConnectionsToClose()
        },
        Case("A body that was held back goes on when it is read") { trial in
            trial.server.on("/", .data(.pattern(20_000_000)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            try await trial.expectStall()
            let body = try await response.body.collect()
            try trial.expect(body == .pattern(20_000_000), "The body is not the one that was sent.")
        },
        Case("A body that is not read holds up no other transfer") { trial in
            trial.server.on("/", .endless(chunk: .pattern(65_536)))
            let response = try await trial.transport.send(trial.request(), context: TransferContext())
            try await trial.expectStall()
            for _ in 0..<10 { try await trial.expectTransportWorks() }
            _ = response
        },
        Case("A response that is dropped unread closes its connection") { trial in
            for response in [.endless(chunk: .pattern(65_536)), LoopbackResponse.partial(.pattern(10), announced: 20)] {
                trial.server.on("/", response)
                _ = try await trial.transport.send(trial.request(), context: TransferContext())
                await trial.waitForConnectionsToClose()
            }
            try await trial.expectTransportWorks()
        },
    ]
}

extension ConformanceTrial {
    /// Reads three chunks of an endless body. The response is released on return.
    fileprivate func readThreeChunksOfAnEndlessBody(_ body: (TransportResponse) async throws -> Void) async throws {
        server.on("/", .endless(chunk: .pattern(65_536)))
        let response = try await transport.send(request(), context: TransferContext())
        var iterator = response.body.makeAsyncIterator()
        for _ in 0..<3 { try expect(try await iterator.next() != nil, "An endless body ended.") }
        try await body(response)
    }

    /// Expects that the server cannot send more than the buffers of the system and the transport hold.
    fileprivate func expectStall() async throws(ConformanceFailure) {
        let bound: Int64 = 64 << 20
        await wait(for: "the server to be held back") {
            await server.log.wait { $0.stalled == 1 || $0.bytesSent > bound }
        }
        let counts = server.log.counts
        try expect(counts.bytesSent <= bound, "The transport took \(counts.bytesSent) bytes that nobody had read.")
    }
}
