#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Secret {
    /// Reads a secret from the process's environment, as it is there; nil where the variable is not set, or is empty.
    ///
    /// - Parameter name: The variable's name, `API_TOKEN`.
    public init?(environment name: String) {
        self.init(environment: name, in: ProcessInfo.processInfo.environment)
    }

    /// Reads a secret from an environment.
    init?(environment name: String, in environment: [String: String]) {
        guard let text = environment[name], !text.isEmpty else { return nil }
        self.init(text)
    }

    /// Reads a secret from a file, as Docker and Kubernetes put it there.
    ///
    /// ```swift
    /// let password = try await Secret(contentsOf: URL(filePath: "/run/secrets/database_password"))
    /// ```
    ///
    /// It holds no thread of the caller's meanwhile. That the file has changed since is not noticed: read it anew.
    ///
    /// - Parameter file: A regular file of less than 256 KiB, in UTF-8. One line break at its end, LF or CRLF, is no part of the secret.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/secretUnavailable`` for a file that is missing, cannot be read, is
    ///   empty, or is no text. It names the file, and holds nothing of what is in it.
    public init(contentsOf file: URL) async throws(SluiceError) {
        let contents: Data
        do throws(SluiceError) {
            let reader = try await FileReader.open(file)
            contents = try await reader.read() ?? Data()
            if contents.count == FileReader.pieceSize { throw Self.unusable(file, "is too large for a secret") }
        } catch {
            throw SluiceError(.secretUnavailable, error.reason, step: .building)
        }
        guard !contents.isEmpty else { throw Self.unusable(file, "is empty") }
        guard let secret = Secret(contents: contents) else {
            throw Self.unusable(file, "is no UTF-8, or nothing but a line break")
        }
        self = secret
    }

    /// The secret that a file's bytes are; nil where they are no text, or no more than a line break.
    init?(contents: Data) {
        var contents = contents[...]
        if contents.last == UInt8(ascii: "\n") {
            contents = contents.dropLast()
            if contents.last == UInt8(ascii: "\r") { contents = contents.dropLast() }
        }
        guard !contents.isEmpty, let text = String(validating: contents, as: UTF8.self) else { return nil }
        self.init(text)
    }

    private static func unusable(_ file: URL, _ why: String) -> SluiceError {
        SluiceError(.secretUnavailable, "The file “\(file.path)” \(why).", step: .building)
    }
}

extension SluiceError.Code {
    /// A file that should hold a ``Secret`` is missing, cannot be read, is empty, or is no text.
    public static let secretUnavailable = SluiceError.Code("secretUnavailable")
}
