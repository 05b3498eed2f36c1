import SluiceFoundation
import SluiceJSON

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension JSON {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(parsing: data)\".")
    public init(data: Data) throws { self = .null }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(parsing: text)\".")
    public init(string: String) throws { self = .null }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(parsing: data)\".")
    public init(_ data: Data) throws { self = .null }
}
