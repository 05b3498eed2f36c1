import Foundation
import Testing

@testable import fleet

struct CommandTests {
    @Test func invalidArgumentsHaveStatus64() async {
        // The arguments are those of the tests.
        await #expect(processExitsWith: .exitCode(64)) { await FleetCommand.main() }
    }
}
