#if os(Linux)
import Foundation
import Testing

/// Code that must not compile, checked with the compiler as in a user's module.
@Suite struct BodyRuleTests {
    private static let bodies = [
        "json(user)", "json([\"id\": user.id, \"tag\": \"x\"])", "form([\"id\": user.id])", "data(.init())",
        "body(.none)", "propertyList(user)", "multipart(form)",
    ]

    private static let bodilessMethods = ["get", "head", "delete", "options"]
    private static let bodyMethods = ["post", "put", "patch"]

    /// Returns the call of each method with each ending.
    private static func calls(_ methods: [String], _ endings: [String]) -> [String] {
        methods.flatMap { method in endings.map { "server.\(method)(\"users\").\($0)" } }
    }

    /// Returns the calls that change the method of a request, with each ending.
    private static func changes(_ endings: [String]) -> [String] {
        bodyMethods.flatMap { method in
            endings.flatMap { ending in
                [
                    "client.codable.request(\"users\").\(method)().\(ending)",
                    "client.get(\"users\").\(method)().header(\"a\", \"b\").\(ending)",
                ]
            }
        }
    }

    /// Type-checks each call as the body of a web service's function.
    ///
    /// - Parameter calls: The calls, each in one line.
    /// - Returns: The compiler's errors by call.
    /// - Throws: An error if the compiler cannot run.
    private func errors(in calls: [String]) async throws -> [String: String] {
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let source = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: source) }
        var lines = [
            "import Sluice", "struct User: Codable, Sendable { let id: Int }",
            "struct Shop: WebService { let client: APIClient; let user: User; let form: MultipartForm",
        ]
        let first = lines.count + 1
        for (index, call) in calls.enumerated() {
            lines.append("func call\(index)() -> APIRequest<User, APIError> { \(call) }")
        }
        lines.append("}")
        try Data(lines.joined(separator: "\n").utf8).write(to: source)
        let arguments = [
            "-typecheck", "-swift-version", "6", "-I", products.appending(path: "Modules").path,
            "-I", root.appending(path: "Sources/CBrotli").path, "-I", root.appending(path: "Sources/CZstd").path,
            "-I", root.appending(path: "Sources/CNghttp2").path, "-I", root.appending(path: "Sources/CZlib").path,
            "-I", root.appending(path: "Sources/CCrypto").path, "-I", root.appending(path: "Sources/CLinux").path,
            "-I", root.appending(path: "Sources/CSSL").path, "-I", root.appending(path: "Sources/CPSL").path,
            "-I", root.appending(path: "Sources/CSQLite").path,
            source.path,
        ]
        let compilation = try await Self.compile(arguments)
        var errors: [String: String] = [:]
        for line in compilation.printed.split(separator: "\n") where line.contains(": error: ") {
            let parts = line.split(separator: ":", maxSplits: 4)
            guard parts.count == 5, line.hasPrefix(source.path), let number = Int(parts[1]),
                calls.indices.contains(number - first)
            else {
                Issue.record("The compiler failed: \(line)")
                continue
            }
            errors[calls[number - first], default: ""] += parts[4]
        }
        #expect(compilation.status == (errors.isEmpty ? 0 : 1), "\(compilation.printed)")
        return errors
    }

    private struct Compilation: Sendable {
        let status: Int32
        let printed: String
    }

    /// Runs the compiler on a separate thread, because a long wait would block other tests.
    private static func compile(_ arguments: [String]) async throws -> Compilation {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Compilation, any Error>) in
            Thread.detachNewThread {
                let process = Process()
                let output = Pipe()
                process.executableURL = URL(filePath: "/usr/bin/env")
                process.arguments = ["swiftc"] + arguments
                process.standardError = output
                do {
                    try process.run()
                    // A signal that interrupts the read would end the process.
                    var all = sigset_t()
                    sigfillset(&all)
                    pthread_sigmask(SIG_BLOCK, &all, nil)
                    let printed = output.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    continuation.resume(
                        returning: Compilation(
                            status: process.terminationStatus,
                            printed: String(decoding: printed, as: UTF8.self)
                        )
                    )
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    @Test func bodyOnABodilessMethodDoesNotCompile() async throws {
        let calls = Self.calls(Self.bodilessMethods, Self.bodies)
        let errors = try await self.errors(in: calls)
        for call in calls {
            #expect(errors[call]?.contains("Set one body, and only") == true, "\(call): \(errors[call] ?? "compiles")")
        }
    }

    @Test func modifiersAndBodiesOnOtherMethodsCompile() async throws {
        let modifiers = ["query(\"a\", 1)", "parameters([\"b\": user.id])", "header(\"a\", \"b\")"]
        let all = modifiers + Self.bodies
        let calls =
            Self.calls(Self.bodilessMethods, modifiers) + Self.calls(Self.bodyMethods, all) + Self.changes(all)
        #expect(try await errors(in: calls) == [:])
    }
}
#endif
