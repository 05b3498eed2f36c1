import SluiceHTTP

extension HTTPRequest {
    /// Returns a POSIX shell command that sends the request with cURL as Sluice would.
    ///
    /// ```swift
    /// print(try request.httpRequest().curlCommand())
    /// // curl 'https://api.example.com/users/1' --compressed -H 'Authorization: Bearer REDACTED'
    /// ```
    ///
    /// The command is a single line, whatever the request contains. A file body is passed by its path. A stream, which
    /// cannot be read twice, must be supplied on standard input. A body that is left out is noted after `#`.
    ///
    /// - Parameters:
    ///   - redaction: The secrets to leave out. With ``Redaction/none`` the command contains all of them. A body over
    ///     the redaction's limit is always left out.
    ///   - secretHeaders: Additional headers that are secret.
    /// - Returns: The command.
    public func curlCommand(redaction: Redaction = .standard, secretHeaders: [HTTPHeaderName] = []) -> String {
        CURLCommand(self, redaction, secretHeaders).text
    }
}
