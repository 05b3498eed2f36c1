import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import SluiceTesting
import SluiceURLSession
@testable import SluiceHTTP
import Testing

final class Spy: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    let start = Date()
    var count = 0
    func log(_ s: String) { print(String(format: "LOG %.3f", Date().timeIntervalSince(start)), s) }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse, completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void) { log("head"); completionHandler(.allow) }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count += data.count
        if count > 1000, dataTask.state == .running { log("cancelling at \(count)"); dataTask.cancel(); log("cancel returned") }
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void) {
        log("needNewBodyStream \(task.originalRequest?.httpMethod ?? "")")
        completionHandler(task.originalRequest?.httpMethod == "PUT" ? InputStream(data: Data("hello".utf8)) : nil)
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { log("complete \(String(describing: error)) \(count)") }
}

@Suite struct Scratch2Tests {
    @Test func endless() async throws {
        let server = try LoopbackServer()
        server.on("/", .endless(chunk: Data(repeating: 1, count: 100)))
        let spy = Spy()
        let session = URLSession(configuration: .ephemeral, delegate: spy, delegateQueue: nil)
        let task = session.dataTask(with: URLRequest(url: URL(string: "http://\(server.authority)/")!))
        task.resume()
        try await Task.sleep(for: .seconds(9))
        spy.log("end")
    }
    @Test func stream() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("x"))
        for known in [true, false] {
            let spy = Spy()
            let session = URLSession(configuration: .ephemeral, delegate: spy, delegateQueue: nil)
            var request = URLRequest(url: URL(string: "http://\(server.authority)/")!)
            request.httpMethod = "PUT"
            if known { request.setValue(" ", forHTTPHeaderField: "Content-Type") }; if known { request.httpBodyStream = InputStream(data: Data("hello".utf8)) }
            let task = session.dataTask(with: request)
            task.resume()
            try await Task.sleep(for: .seconds(1))
            print("LOG", known, server.requests.last.map { "\($0.body.count) \($0.headers[.transferEncoding])" } ?? "")
        }
    }
    @Test func headers() async throws {
        let server = try LoopbackServer()
        for line in ["X-A:1", "X-B: \t two words \t", "X-B: \t two", "X-B: two \t", "X-C: é"] {
            server.on("/", .raw("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 0\r\n\r\n", thenClose: false))
            let spy = Spy()
            let session = URLSession(configuration: .ephemeral, delegate: spy, delegateQueue: nil)
            print("LOG line \(line)")
            session.dataTask(with: URLRequest(url: URL(string: "http://\(server.authority)/")!)).resume()
            try await Task.sleep(for: .seconds(0.3))
        }
    }
}
