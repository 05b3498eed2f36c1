#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Responses that arrive before the whole request has been sent.
    @Suite struct EarlyResponseTests {
        private let transport = SocketTransport()

        /// By its number: a body in memory, an endless body, and a body that stalls.
        @Test(arguments: [200, 413] as [HTTPStatus], 0..<3)
        func completeResponseEndsTheUpload(_ status: HTTPStatus, _ kind: Int) async throws {
            let resumes = DispatchSemaphore(value: 0)
            defer { resumes.signal() }
            let received = Locked(0)
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                TestListener.write("HTTP/1.1 \(status.rawValue) x\r\nContent-Length: 5\r\n\r\nearly", to: descriptor)
                resumes.wait()
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    if count <= 0 { return }
                    received.withLock { $0 += count }
                }
            }
            let (slow, source) = AsyncStream<Data>.makeStream()
            source.yield(Data("first".utf8))
            let bodies: [RequestBody] = [
                .data(Data(count: 32 << 20)),
                .stream(AsyncStream<Data>(unfolding: { Data(count: 64 << 10) })),
                .stream(slow),
            ]
            let request = listener.request(method: .put, body: bodies[kind])
            let context = TransferContext(timeouts: Timeouts(total: .seconds(60)))
            let response = try await transport.exchange(request, context)
            #expect(response.status == status)
            #expect(response.text == "early")
            try await waitUntil("the request has ended") { transport.isQuiet }
            #expect(!transport.hasIdle)
            resumes.signal()
            try await waitUntil("the connection is closed") { listener.openConnections == 0 }
            // No more than the socket buffers hold.
            #expect(received.withLock { $0 } < 16 << 20)
            source.finish()
        }

        /// The server refuses the field when the wait for 100 (Continue) has ended. A body that can be read only once is not sent again.
        @Test(arguments: [true, false]) func lateRefusalOfTheExpectFieldIsAnswered(_ isRepeatable: Bool) async throws {
            let heads = Locked<[String]>([])
            let listener = try TestListener { descriptor in
                while let head = TestListener.readHead(descriptor) {
                    heads.withLock { $0.append(head) }
                    var byte: UInt8 = 0
                    guard recv(descriptor, &byte, 1, 0) == 1 else { return }
                    let line = head.contains("Expect: ") ? "HTTP/1.1 417 No" : "HTTP/1.1 200 OK"
                    TestListener.write("\(line)\r\nContent-Length: 0\r\n\r\n", to: descriptor)
                }
            }
            let bytes = AsyncStream<Data> { continuation in
                continuation.yield(Data("x".utf8))
                continuation.finish()
            }
            let request = listener.request(
                method: .put,
                headers: ["Expect": "100-continue", "Content-Length": "1"],
                body: isRepeatable ? .data(Data("x".utf8)) : .stream(bytes, length: 1)
            )
            let context = TransferContext(timeouts: Timeouts(total: .seconds(60), continueWait: .milliseconds(10)))
            let response = try await transport.exchange(request, context)
            #expect(response.status == (isRepeatable ? 200 : 417))
            #expect(heads.withLock { $0.map { $0.contains("Expect: ") } } == (isRepeatable ? [true, false] : [true]))
        }

        /// The interim and the final head arrive in one read, after the source of the body has failed.
        @Test func headIsDeliveredIfTheBodyFailsInTheSameTurn() async throws {
            struct Unreadable: Error {}
            for _ in 0..<20 {
                let answers = DispatchSemaphore(value: 0)
                defer { answers.signal() }
                let hasFailed = Locked(false)
                let listener = try TestListener { descriptor in
                    guard TestListener.readHead(descriptor) != nil else { return }
                    answers.wait()
                    let heads = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                    TestListener.write(heads, to: descriptor)
                    TestListener.discardInput(descriptor)
                }
                let source = AsyncThrowingStream<Data, any Error> {
                    hasFailed.withLock { $0 = true }
                    throw Unreadable()
                }
                let request = listener.request(
                    method: .put,
                    headers: ["Expect": "100-continue"],
                    body: .stream(source)
                )
                let context = TransferContext(timeouts: Timeouts(total: .seconds(20), continueWait: .seconds(600)))
                let answer = Locked<TransportResponse?>(nil)
                let task = Task {
                    let response = try await transport.send(request, context: context)
                    answer.withLock { $0 = response }
                }
                defer { task.cancel() }
                try await waitUntil("the source has failed") { hasFailed.withLock(\.self) }
                answers.signal()
                try await waitUntil("the caller has the answer") { answer.withLock { $0 != nil } }
                let response = try #require(answer.withLock { $0 })
                #expect(response.head.status == 200)
                let (received, error) = await response.body.readToEnd()
                #expect(received.isEmpty)
                #expect(error?.code == .bodyUnavailable)
                #expect(error?.underlyingError is Unreadable)
                try await waitUntil("the connection is closed") { listener.openConnections == 0 }
            }
            #expect(transport.isQuiet)
        }

        /// The server resets the connection while its response is unread. The request is not sent again.
        @Test func sourceEndsWhenItsConnectionFailsAfterTheHead() async throws {
            struct Source: AsyncSequence, Sendable {
                let hasEnded: Locked<Bool>

                func makeAsyncIterator() -> Iterator { Iterator(hasEnded) }

                final class Iterator: AsyncIteratorProtocol {
                    let hasEnded: Locked<Bool>

                    init(_ hasEnded: Locked<Bool>) {
                        self.hasEnded = hasEnded
                    }

                    deinit {
                        hasEnded.withLock { $0 = true }
                    }

                    func next() async -> Data? { Data(count: 64 << 10) }
                }
            }
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                TestListener.write("HTTP/1.1 200 x\r\nContent-Length: 100000\r\n\r\n", to: descriptor)
                TestListener.write(String(repeating: "x", count: 50_000), to: descriptor)
                // The unread part of the body turns the close into a reset.
            }
            var configuration = SocketTransport.Configuration()
            configuration.responseBufferSize = 10_000
            let transport = SocketTransport(configuration: configuration)
            let hasEnded = Locked(false)
            let request = listener.request(method: .put, body: .stream(Source(hasEnded: hasEnded)))
            let response = try await transport.send(request, context: TransferContext())
            try await waitUntil("the source is released") { hasEnded.withLock { $0 } }
            #expect(response.head.status == 200)
            response.body.cancel()
        }

        @Test func responseIsReadAfterWritingTheRequestFailed() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let answers = DispatchSemaphore(value: 0)
                let hasHead = Locked(false)
                let listener = try TestListener { descriptor in
                    guard TestListener.readHead(descriptor) != nil else { return }
                    hasHead.withLock { $0 = true }
                    answers.wait()
                    TestListener.write("HTTP/1.1 413 x\r\nContent-Length: 9\r\n\r\ntoo large", to: descriptor)
                    // The unread part of the body turns the close into a reset.
                }
                let transport = SocketTransport()
                let request = listener.request(method: .put, body: .data(Data(count: 32 << 20)))
                let task = Task { await transport.result(of: request) }
                try await waitUntil("the server has the head") { hasHead.withLock { $0 } }
                let gate = LoopGate(engine)
                try await waitUntil("the loop is blocked") { gate.isClosed }
                answers.signal()
                try await waitUntil("the server has closed the connection") { listener.openConnections == 0 }
                gate.open()
                let response = try await task.value.get()
                try #require(response.status == 413)
                try #require(response.text == "too large")
                exit(7)
            }
        }
    }
}
#endif
