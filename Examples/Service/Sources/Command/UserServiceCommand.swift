import Hummingbird
import Sluice
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
            let options = try ServiceOptions(environment: ProcessInfo.processInfo.environment)
            let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
            try await server.application(host: options.host, port: options.port).runService()
        } catch {
            print("✗ \(error)")
            exit(EXIT_FAILURE)
        }
    }
}
