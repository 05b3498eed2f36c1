import SluiceHTTP

extension SluiceError.Code {
    /// There is nothing in the cache to answer the request with, and it must not be sent.
    public static let cacheMiss = SluiceError.Code("cacheMiss")
    /// What gates are told of a request that the cache has answered: it was never sent.
    public static let answeredByCache = SluiceError.Code("answeredByCache")
    /// A cache could not read or write: its disk is full, its file is no database, its folder is read-only.
    public static let cacheFailed = SluiceError.Code("cacheFailed")
}
