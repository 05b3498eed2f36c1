import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
    /// Cases for request bodies that arrive.
    static let requestBodyCases: [Case] = [
        Case("A POST without a body is a whole request") { trial in
            trial.server.on("/", .text("ok"))
            for body in [HTTPBody.none, .data(Data())] {
                let answer = try await trial.exchange(trial.request(.post, body: body))
                try trial.expectEqual(answer.text, "ok", "The answer")
            }
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0, 0], "The bodies' lengths")
            let announced = trial.server.requests.last?.headers[.contentLength]
            try trial.expectEqual(announced, "0", "The Content-Length of a body of no bytes")
        },
        Case("A body in memory arrives with its length") { trial in
            try await trial.expectArrival(of: .data(.pattern(1000)), as: .pattern(1000), isChunked: false)
        },
        Case("A body of 5 MB in memory arrives whole") { trial in
            try await trial.expectArrival(of: .data(.pattern(5_000_000)), as: .pattern(5_000_000), isChunked: false)
        },
        Case("A body goes with any method") { trial in
            trial.server.on("/") { .data($0.body) }
            for method: HTTPMethod in [.get, .put, .patch, .delete, .options, "REPORT"] {
                let answer = try await trial.exchange(trial.request(method, body: .data(.pattern(100))))
                try trial.expectEqual(answer.body, .pattern(100), "The body of a \(method)")
            }
        },
        Case("A file arrives whole") { trial in
            let data = Data.pattern(1_000_000)
            let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
            try data.write(to: url)
            defer { try? FileManager.default.removeItem(at: url) }
            try await trial.expectArrival(of: .file(url), as: data, isChunked: false)
        },
        Case("An empty file is a body of no bytes") { trial in
            let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
            try Data().write(to: url)
            defer { try? FileManager.default.removeItem(at: url) }
            try await trial.expectArrival(of: .file(url), as: Data(), isChunked: false)
        },
        Case("A stream with a length arrives with it") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(10), .pattern(100_000), .pattern(1)])
            let body = HTTPBody.stream(chunks, length: 100_011)
            try await trial.expectArrival(of: body, as: chunks.chunks.reduce(Data(), +), isChunked: false)
        },
        Case("A stream without a length arrives chunked") { trial in
            let chunks = ScriptedChunks(chunks: [.pattern(10), .pattern(300_000), .pattern(1)])
            try await trial.expectArrival(of: .stream(chunks), as: chunks.chunks.reduce(Data(), +), isChunked: true)
        },
        Case("Empty chunks of a stream do not end it") { trial in
            let chunks = ScriptedChunks(chunks: [Data(), .pattern(10), Data(), Data(), .pattern(20), Data()])
            let whole = chunks.chunks.reduce(Data(), +)
            try await trial.expectArrival(of: .stream(chunks), as: whole, isChunked: true)
            try await trial.expectArrival(of: .stream(chunks, length: 30), as: whole, isChunked: false)
        },
        Case("A stream of no chunks is a body of no bytes") { trial in
            trial.server.on("/", .text("ok"))
            let answer = try await trial.exchange(trial.request(.put, body: .stream(ScriptedChunks(chunks: []))))
            try trial.expectEqual(answer.text, "ok", "The answer")
            try trial.expectEqual(trial.server.requests.map(\.body.count), [0], "The body's length")
        },
    ]
}

extension ConformanceTrial {
    func expectArrival(of body: HTTPBody, as data: Data, isChunked: Bool) async throws {
        server.on("/", .text("ok"))
        let answer = try await exchange(request(.put, body: body))
        try expectEqual(answer.text, "ok", "The answer")
        let seen = server.requests.last
        try expectEqual(seen?.body.count, data.count, "The length of the body that arrived")
        try expect(seen?.body == data, "The body arrived with its length but with other bytes.")
        try expectEqual(seen?.headers[.contentLength], isChunked ? nil : "\(data.count)", "The Content-Length")
        try expectEqual(seen?.headers[.transferEncoding], isChunked ? "chunked" : nil, "The Transfer-Encoding")
    }
}
