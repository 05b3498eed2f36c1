import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

/// The text of a recording, byte for byte.
@Suite struct HARGoldenTests {
    private var entry: HAR.Entry? {
        var assembly = HARAssembly(
            HARTranscript(redaction: .standard, maximumBodyBytes: 100),
            maximumEntries: 1
        )
        let request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "shop.example",
            path: "/orders?token=s3cret&q=a%20b",
            headers: [.authorization: "Bearer s3cret", .contentType: "application/json"],
            body: .data(Data(#"{"n":1}"#.utf8))
        )
        var metrics = TransferMetrics()
        metrics.nameLookup = .milliseconds(2)
        metrics.connect = .milliseconds(10)
        metrics.tls = .microseconds(25_250)
        metrics.firstByte = .milliseconds(40)
        metrics.total = .milliseconds(41)
        metrics.bytesSent = 7
        metrics.bytesReceived = 8
        metrics.remoteAddress = "192.0.2.1:443"
        let head = HTTPResponse(status: .created, headers: [.setCookie: "sid=s3cret; Secure"], version: .http2)
        let body = Data(#"{"id":7}"#.utf8)
        let response = ServerResponse(request: request, head: head, body: body, metrics: metrics)
        let began = ContinuousClock.now
        let events: [(Int, Int, RequestEvent)] = [
            (0, 0, .began(request)), (1, 1, .sending(request)), (43, 1, .received(.success(response))),
            (43, 0, .finished(.success(response))),
        ]
        for (time, attempt, event) in events {
            let observed = ObservedRequest(
                id: RequestID(rawValue: 3),
                attempt: attempt,
                method: .post,
                route: "orders",
                elapsed: .milliseconds(time),
                began: began,
                beganDate: Date(timeIntervalSince1970: 1_767_225_600.25)
            )
            assembly.take(event, of: observed)
        }
        return assembly.entries.first
    }

    @Test func theTextOfARecording() throws {
        let entry = try #require(entry)
        let text = String(decoding: try HAR(log: HAR.Log(entries: [entry])).data(), as: UTF8.self)
        #expect(text == Self.text, "\(text)")
    }

    private static let text = """
        GOLDEN
        """
}
