#if os(Linux)
import Foundation
import Testing

@testable import SluiceRedis

/// The news of changes by other processes.
struct ChangeFeedTests {
    @Test(arguments: [Duration.zero, .milliseconds(50), .seconds(20)])
    func readHasTheTimeForALateServer(_ commandTimeout: Duration) {
        // A server on which nothing happens ends a wait of 500 milliseconds up to 100 milliseconds too late.
        #expect(ChangeFeed.readTimeout(commandTimeout) > .milliseconds(600) + commandTimeout)
    }
}
#endif
