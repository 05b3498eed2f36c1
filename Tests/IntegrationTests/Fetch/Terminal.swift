import Foundation

/// A shell in a terminal of 24 rows, which tmux emulates.
///
/// All waits are for a state of the screen, and fail with the screen after half a minute.
final class Terminal {
    private let server = "sluice-\(UUID().uuidString)"
    private static let deadline = Duration.seconds(30)

    /// Starts a shell, whose prompt is `> `.
    ///
    /// - Parameters:
    ///   - columns: The width.
    ///   - folder: The working folder.
    ///   - shell: The command of the shell.
    ///   - environment: Variables of the shell.
    /// - Throws: An error if tmux cannot be started.
    init(
        columns: Int = 100,
        in folder: URL,
        shell: String = "bash --norc --noprofile -i",
        environment: [String: String] = [:]
    ) async throws {
        var variables = environment
        for (name, value) in try FetchProcess.environment() where name.hasSuffix("SAN_OPTIONS") {
            variables[name] = value
        }
        let settings = variables.flatMap { ["-e", "\($0)=\($1)"] }
        // tmux and the shell that runs the command set these variables themselves.
        let command = "PATH='\(RealServer.products.path)':$PATH PS1='> ' exec \(shell)"
        let session = ["new-session", "-d", "-x", "\(columns)", "-y", "24", "-c", folder.path]
        try await RealServer.runAside(
            "bash",
            ["-c", Self.start, "bash", "-u", "-L", server, "-f", "/dev/null"] + session + settings + [command]
        )
        do {
            try await wait { $0 == [">"] }
        } catch {
            await end()
            throw error
        }
    }

    /// Ends the shell and all that runs in it.
    func end() async {
        _ = try? await tmux(["kill-server"])
    }

    /// Types a line.
    func run(_ line: String) async throws {
        try await type(line)
        try await press("Enter")
    }

    /// Types a text.
    func type(_ text: String) async throws {
        _ = try await tmux(["send-keys", "-l", text])
    }

    /// Presses a key, such as `C-c`.
    func press(_ key: String) async throws {
        _ = try await tmux(["send-keys", key])
    }

    /// Changes the width, and waits until the system tells it to programs.
    func resize(columns: Int) async throws {
        let device = try await tmux(["display-message", "-p", "#{pane_tty}"]).trimmingCharacters(in: .newlines)
        _ = try await tmux(["resize-window", "-x", "\(columns)", "-y", "24"])
        try await wait { _ in try RealServer.run("stty", "-F", device, "size") == "24 \(columns)\n" }
    }

    /// The lines of the screen without white space at their ends, and without the empty ones at the bottom.
    var lines: [String] {
        get async throws {
            var lines = try await tmux(["capture-pane", "-p"]).split(separator: "\n", omittingEmptySubsequences: false)
                .map { String($0.reversed().drop(while: \.isWhitespace).reversed()) }
            while lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    /// The column of the cursor, and true if it is visible.
    var cursor: (column: Int?, isVisible: Bool) {
        get async throws {
            let words = try await tmux(["display-message", "-p", "#{cursor_x} #{cursor_flag}"]).split(separator: " ")
            return (words.first.flatMap { Int($0) }, words.last?.hasPrefix("1") == true)
        }
    }

    /// Waits until the lines of the screen satisfy a condition, and returns them.
    @discardableResult
    func wait(until isSatisfied: ([String]) throws -> Bool) async throws -> [String] {
        let end = ContinuousClock.now + Self.deadline
        while true {
            let lines = try await lines
            if try isSatisfied(lines) { return lines }
            guard ContinuousClock.now < end else {
                throw RealServer.Failure(description: "The screen is:\n\(lines.joined(separator: "\n"))")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until some line contains each of the texts.
    @discardableResult
    func wait(for texts: String...) async throws -> [String] {
        try await wait { lines in texts.allSatisfy { text in lines.contains { $0.contains(text) } } }
    }

    /// Waits until the shell shows its prompt again.
    ///
    /// - Parameter count: The number of prompts on the screen, with those before commands.
    /// - Returns: The lines before the last prompt.
    /// - Throws: An error with the screen if the shell shows no prompt.
    @discardableResult
    func waitForPrompt(_ count: Int) async throws -> [String] {
        let lines = try await wait { lines in
            lines.last == ">" && lines.count { $0.hasPrefix(">") } == count
        }
        return lines.dropLast()
    }

    /// Starts the server, without the descriptors of the tests. It would hold them open after its command has ended.
    private static let start = """
        (
            for descriptor in /proc/$BASHPID/fd/*; do
                descriptor=${descriptor##*/}
                if [ "$descriptor" -gt 2 ]; then eval "exec $descriptor>&-"; fi
            done
            exec tmux "$@" > /dev/null 2>&1
        )
        """

    private func tmux(_ arguments: [String]) async throws -> String {
        try await RealServer.runAside("tmux", ["-u", "-L", server, "-f", "/dev/null"] + arguments)
    }
}
