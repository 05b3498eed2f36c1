import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for request bodies that cannot be sent.
    static let brokenRequestBodyCases: [Case] = [
        Case("A missing file fails with bodyUnavailable before a byte is sent") { trial in
            let url = FileManager.default.temporaryDirectory.appending(path: "sluice-missing-\(UUID().uuidString)")
            try await trial.expectBodyFailure(.bodyUnavailable, .file(url))
            // The server has processed everything sent before the check that the transport still works.
            try trial.expectEqual(trial.server.log.counts.heads, 1, "The number of heads that reached the server")
        },
        Case("A directory for a file fails with bodyUnavailable") { trial in
            try await trial.expectBodyFailure(.bodyUnavailable, .file(FileManager.default.temporaryDirectory))
        },
        Case("A stream that throws fails with bodyUnavailable and its error, and closes the connection") { trial in
            for length in [nil, Int64(1_000_000)] {
                let chunks = ScriptedChunks(chunks: [.pattern(1000)], end: .fail)
                let error = try await trial.expectBodyFailure(.bodyUnavailable, .stream(chunks, length: length))
                try trial.expect(
                    error.underlyingError is ScriptedChunks.Broken,
                    "The stream's error should be the underlying one, but that is \(String(describing: error.underlyingError))."
                )
            }
        },
        Case("A stream that throws at once fails with bodyUnavailable") { trial in
            try await trial.expectBodyFailure(.bodyUnavailable, .stream(ScriptedChunks(chunks: [], end: .fail)))
        },
        Case("A stream shorter than announced fails with bodyLengthMismatch and closes the connection") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(1000)])
            try await trial.expectBodyFailure(.bodyLengthMismatch, .stream(chunks, length: 1001))
            try await trial.expectBodyFailure(.bodyLengthMismatch, .stream(ScriptedChunks(chunks: []), length: 1))
        },
        Case("A stream longer than announced fails with bodyLengthMismatch") { trial in
            for chunks in [[Data.pattern(1001)], [.pattern(1000), .pattern(1)]] {
                let body = HTTPBody.stream(ScriptedChunks(chunks: chunks), length: 1000)
                // The server may have received a complete request, which this case does not check.
                trial.server.on("/", .text("never to be seen"))
                try await trial.expectFailure(.bodyLengthMismatch) {
                    _ = try await trial.exchange(trial.request(.put, body: body))
                }
            }
        },
    ]
}

extension ConformanceTrial {
    /// Expects that a PUT fails, and that the server never treats the incomplete body as complete.
    @discardableResult
    fileprivate func expectBodyFailure(_ code: SluiceError.Code, _ body: HTTPBody) async throws -> SluiceError {
        server.on("/broken", .text("taken for whole"))
        let error = try await expectFailure(code) {
            _ = try await exchange(request(.put, "/broken", body: body))
        }
        await wait(for: "the transport to close the connection with half a request on it") {
            await server.waitForOpenConnections { $0 <= 1 }
        }
        try expectEqual(server.requests(to: "/broken").count, 0, "The number of bodies that came to an end")
        return error
    }
}
