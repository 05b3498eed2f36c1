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
        metrics.sentRequest = SentRequest(
            headers: [
                .host: "shop.example", .authorization: "Bearer s3cret", .contentType: "application/json",
                "Accept": "*/*",
            ],
            headLength: 180,
            end: .microseconds(27_250)
        )
        let cookie = "sid=s3cret; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Secure"
        let head = HTTPResponse(status: .created, headers: [.setCookie: cookie], version: .http2)
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
            assembly.record(event, of: observed)
        }
        return assembly.entries.first
    }

    @Test func writesExpectedText() throws {
        let entry = try #require(entry)
        let text = String(decoding: try HAR(entries: [entry]).data(), as: UTF8.self)
        #expect(text == Self.text, "\(text)")
    }

    private static let text = #"""
        {
          "log" : {
            "creator" : {
              "name" : "Sluice",
              "version" : "\#(SluiceVersion.current)"
            },
            "entries" : [
              {
                "_attempt" : 1,
                "_hop" : 0,
                "_requestID" : 3,
                "_route" : "orders",
                "cache" : {

                },
                "connection" : "443",
                "request" : {
                  "bodySize" : 7,
                  "cookies" : [

                  ],
                  "headers" : [
                    {
                      "name" : "Host",
                      "value" : "shop.example"
                    },
                    {
                      "name" : "Authorization",
                      "value" : "Bearer REDACTED"
                    },
                    {
                      "name" : "Content-Type",
                      "value" : "application/json"
                    },
                    {
                      "name" : "Accept",
                      "value" : "*/*"
                    }
                  ],
                  "headersSize" : 180,
                  "httpVersion" : "HTTP/2",
                  "method" : "POST",
                  "postData" : {
                    "mimeType" : "application/json",
                    "params" : [

                    ],
                    "text" : "{\"n\":1}"
                  },
                  "queryString" : [
                    {
                      "name" : "token",
                      "value" : "REDACTED"
                    },
                    {
                      "name" : "q",
                      "value" : "a b"
                    }
                  ],
                  "url" : "https://shop.example/orders?token=REDACTED&q=a%20b"
                },
                "response" : {
                  "bodySize" : 8,
                  "content" : {
                    "mimeType" : "",
                    "size" : 8,
                    "text" : "{\"id\":7}"
                  },
                  "cookies" : [
                    {
                      "expires" : "2015-10-21T07:28:00.000Z",
                      "name" : "sid",
                      "secure" : true,
                      "value" : "REDACTED"
                    }
                  ],
                  "headers" : [
                    {
                      "name" : "Set-Cookie",
                      "value" : "REDACTED"
                    }
                  ],
                  "headersSize" : -1,
                  "httpVersion" : "HTTP/2",
                  "redirectURL" : "",
                  "status" : 201,
                  "statusText" : ""
                },
                "serverIPAddress" : "192.0.2.1",
                "startedDateTime" : "2026-01-01T00:00:00.250Z",
                "time" : 42,
                "timings" : {
                  "blocked" : 1,
                  "connect" : 23.25,
                  "dns" : 2,
                  "receive" : 1,
                  "send" : 2,
                  "ssl" : 15.25,
                  "wait" : 12.75
                }
              }
            ],
            "pages" : [

            ],
            "version" : "1.2"
          }
        }
        """#
}
