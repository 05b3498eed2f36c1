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

extension JSON {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func double(_ value: Double) -> JSON { .null }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func int(_ value: some BinaryInteger) -> JSON { .null }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func number(_ value: some BinaryFloatingPoint) -> JSON { .null }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func number(_ value: some BinaryInteger) -> JSON { .null }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write \"JSON(value)\" to set a member, and \"json[\"name\"].string\" to read one."
    )
    public subscript<Value: JSONEncodable>(key: String) -> Value? {
        get { nil }
        set {}
    }
}
