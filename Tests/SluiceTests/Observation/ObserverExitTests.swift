#if os(Linux)
import Foundation
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct ObserverExitTests {
    @Test func eventsOfTheLastRequestAreDeliveredBeforeExit() async throws {
        let result = try await #require(processExitsWith: .exitCode(7), observing: [\.standardOutputContent]) {
            let log = RequestLog(.failures) { FileHandle.standardOutput.write(Data("logged \($0)".utf8)) }
            let client = APIClient(baseURL: "http://shop.example") {
                $0.observers = [log]
                $0.stub = .status(.notFound)
            }
            _ = await client.data.get("x").sender().result
            exit(7)
        }
        #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("logged"))
    }

    @Test func exitDoesNotWaitForeverForAnObserver() async {
        await #expect(processExitsWith: .exitCode(7)) {
            struct Stuck: RequestObserver {
                func observe(_ event: RequestEvent, of request: ObservedRequest) {
                    DispatchSemaphore(value: 0).wait()
                }
            }
            let client = APIClient(baseURL: "http://shop.example") {
                $0.observers = [Stuck()]
                $0.stub = .status(.notFound)
            }
            _ = await client.data.get("x").sender().result
            exit(7)
        }
    }
}
#endif
