import Foundation
import Testing

@testable import fleet

struct CommandTests {
    @Test func invalidArgumentsHaveStatus64() async {
        // The arguments are those of the tests.
        await #expect(processExitsWith: .exitCode(64)) { await FleetCommand.main() }
    }

    #if os(Linux)
    @Test func anEventThatCannotBeWrittenEndsTheProcess() async {
        await #expect(processExitsWith: .exitCode(1)) {
            FleetCommand.output("{}\n", to: open("/dev/full", O_WRONLY))
        }
    }
    #endif
}
