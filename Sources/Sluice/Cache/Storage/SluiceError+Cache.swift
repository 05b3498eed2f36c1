import SluiceHTTP

extension SluiceError.Code {
    /// The cache has no response to the request, and the request must not be sent.
    public static let cacheMiss = SluiceError.Code("cacheMiss")
    /// The outcome that gates see for a request that was answered by the cache and never sent.
    public static let answeredByCache = SluiceError.Code("answeredByCache")
    /// The cache could not read or write. For example, the disk is full, the file is not a database, or the folder is
    /// read-only.
    public static let cacheFailed = SluiceError.Code("cacheFailed")
}
