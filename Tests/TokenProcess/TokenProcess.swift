import Foundation
import Sluice

/// A client of an OAuth 2.0 server in a separate process, which shares the file of its token with other processes.
///
/// For each line on standard input it sends requests at the same time, and prints how many of them have succeeded. At the
/// end of the input it exits. A line `sign out` signs the user out.
@main
struct TokenProcess {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().map(\.self)
        guard arguments.count == 3 else {
            write("usage: TokenProcess <server> <file> <refresh token>")
            exit(1)
        }
        let oauth = OAuth2(
            .refreshToken(arguments[2], id: "legacy", secret: "s3cret"),
            tokenURL: "\(arguments[0])/token"
        ) {
            $0.store = FileTokenStore(URL(filePath: arguments[1]))
            $0.refreshLimit = .init(count: 1000)
        }
        let client = APIClient(baseURL: "\(arguments[0])/api") { $0.gates = [oauth] }
        write("ready")
        while let line = readLine() {
            if line == "sign out" {
                do {
                    try await oauth.signOut()
                    write("signed out")
                } catch {
                    write("failed: \(error)")
                }
            } else {
                write(await served(by: client))
            }
        }
    }

    /// Sends requests at the same time, and describes their outcomes.
    private static func served(by client: APIClient) async -> String {
        let results = await withTaskGroup(of: String.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do throws(APIError) {
                        _ = try await client.data.get("me").sender().value
                        return "served"
                    } catch {
                        return "failed: \(error.code)"
                    }
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        return results.sorted().joined(separator: ", ")
    }

    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
