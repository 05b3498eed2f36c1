extension SluiceError.Code {
    /// A stub cannot produce its response: its file cannot be read, its model cannot be encoded, or its closure threw
    /// an error.
    public static let stubUnavailable = SluiceError.Code("stubUnavailable")
    /// A stub has no more responses.
    public static let stubExhausted = SluiceError.Code("stubExhausted")
}
