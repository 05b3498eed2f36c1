import SluiceFoundation

extension Secret {
    /// Reads a secret from the process's environment without trimming it; nil if the variable is unset or empty.
    ///
    /// - Parameter name: The variable's name, such as `API_TOKEN`.
    public init?(environment name: String) {
        self.init(environment: name, in: ProcessInfo.processInfo.environment)
    }

    /// Reads a secret from an environment.
    init?(environment name: String, in environment: [String: String]) {
        guard let text = environment[name], !text.isEmpty else { return nil }
        self.init(text)
    }

    /// Reads a secret from a file, such as those of Docker and Kubernetes.
    ///
    /// ```swift
    /// let password = try await Secret(contentsOf: URL(filePath: "/run/secrets/database_password"))
    /// ```
    ///
    /// The read does not block the caller's thread. Later changes of the file are not noticed: read it again.
    ///
    /// - Parameter file: A regular file of less than 256 KiB, in UTF-8. One line break at its end, LF or CRLF, is not
    ///   part of the secret.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/secretUnavailable`` if the file is missing,
    ///   unreadable, empty or not UTF-8. The error names the file but contains nothing of its contents.
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
            throw Self.unusable(file, "is not valid UTF-8, or contains only a line break")
        }
        self = secret
    }

    /// Creates a secret from a file's bytes; nil if they are not UTF-8, or are only a line break.
    init?(contents: Data) {
        var contents = contents[...]
        if contents.last == UInt8(ascii: "\n") {
            contents = contents.dropLast()
            if contents.last == UInt8(ascii: "\r") { contents = contents.dropLast() }
        }
        guard !contents.isEmpty, let text = String(validating: contents, as: UTF8.self) else { return nil }
        self.init(text)
    }

    private static func unusable(_ file: URL, _ reason: String) -> SluiceError {
        SluiceError(.secretUnavailable, "The file “\(file.path)” \(reason).", step: .building)
    }
}

extension SluiceError.Code {
    /// A file that should contain a ``Secret`` is missing, unreadable, empty or not text.
    public static let secretUnavailable = SluiceError.Code("secretUnavailable")
}
