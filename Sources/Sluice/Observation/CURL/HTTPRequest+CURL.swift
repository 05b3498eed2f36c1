import SluiceHTTP

extension HTTPRequest {
    /// A command line for a POSIX shell that sends the request by cURL as Sluice would.
    ///
    /// ```swift
    /// print(try request.httpRequest().curlCommand())
    /// // curl 'https://api.example.com/users/1' --compressed -H 'Authorization: Bearer REDACTED'
    /// ```
    ///
    /// It is one line, whatever the request holds. A file is named; a stream, which cannot be read twice, is to be given on
    /// standard input; a body that is left out is noted behind `#`.
    ///
    /// - Parameters:
    ///   - redaction: What is left out as secret. With ``Redaction/none`` the command has it all. A body over its limit is
    ///     left out with either.
    ///   - secretHeaders: Headers that are secret too.
    /// - Returns: The command.
    public func curlCommand(redaction: Redaction = .standard, secretHeaders: [HTTPHeaderName] = []) -> String {
        CURLCommand(self, redaction, secretHeaders).text
    }
}
