extension SluiceError.Code {
    /// A stub cannot give its answer: its file cannot be read, its model cannot be encoded, its closure threw.
    public static let stubUnavailable = SluiceError.Code("stubUnavailable")
    /// A stub has given all the answers it had.
    public static let stubExhausted = SluiceError.Code("stubExhausted")
}
