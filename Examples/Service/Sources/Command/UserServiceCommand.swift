import Logging
import UserService

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs the service until SIGTERM or Ctrl-C. Requests in progress are still answered.
@main struct UserServiceCommand {
    static func main() async {
        do {
            let environment = ProcessInfo.processInfo.environment
            let options = try ServiceOptions(environment: environment)
            let logger = Logger(label: "user-service")
            let service = UserServiceGroup(options, environment: environment, logger: logger) { port in
                logger.info("Listening on port \(port)")
            }
            try await service.group.run()
        } catch {
            let line = Array("✗ \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(EXIT_FAILURE)
        }
    }
}
