import SluiceFoundation

/// A user name and password for HTTP authentication: Basic (RFC 7617) and Digest (RFC 7616).
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.credentials = ChallengeCredentials(user: "ada", password: "s3cret")
/// }
/// ```
///
/// The engine answers the server's challenge (RFC 9110 §11.6.1) and returns the final response. If the server rejects
/// the credentials, or the challenge is not supported, that response is the server's 401. Answering a challenge sends
/// the body twice; if it can be read only once, the request fails with ``SluiceError/Code/bodyNotReplayable``. Requests
/// with their own `Authorization` header do not use the credentials.
///
/// On Linux, after the server has accepted the credentials, the transport sends them with later requests to the same
/// protection space without waiting for a challenge. With Digest alone, a body that can be read only once waits for the
/// challenge: the request is first sent without it.
public struct ChallengeCredentials: Sendable, Hashable {
    /// A set of authentication methods.
    public struct Methods: OptionSet, Sendable, Hashable {
        /// The set as bits, one for each method.
        public let rawValue: UInt8

        /// Creates a set from bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Basic, which sends the password itself. If no other method is allowed, it is sent with the first request,
        /// without a challenge.
        public static let basic = Methods(rawValue: 1)
        /// Digest, which proves knowledge of the password: MD5, SHA-256 and SHA-512-256, each with and without `-sess`.
        /// If a server offers several, the strongest is used.
        ///
        /// A challenge that must cover the body (`auth-int` without `auth`) is answered only if the body is in memory
        /// and has at most 1 MiB.
        public static let digest = Methods(rawValue: 2)
    }

    /// The values in one allocation, so that types with credentials stay small.
    private final class Storage: Sendable {
        let user: String
        let password: Secret
        let methods: Methods
        let origin: HTTPOrigin?
        let isPreemptive: Bool

        init(_ user: String, _ password: Secret, _ methods: Methods, _ origin: HTTPOrigin?, isPreemptive: Bool = true) {
            self.user = user
            self.password = password
            self.methods = methods
            self.origin = origin
            self.isPreemptive = isPreemptive
        }
    }

    private let storage: Storage

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - user: The user name, sent in UTF-8, without a colon or control characters.
    ///   - password: The password, a `String` or a ``Secret``, sent in UTF-8, without control characters.
    ///   - methods: The allowed authentication methods; Basic and Digest by default. If the server offers both, Digest
    ///     is used.
    ///   - origin: The origin that may receive the credentials. By default, a client's credentials use the origin of
    ///     its base URL, and a request's credentials use the origin of the request.
    public init(
        user: String,
        password: some SecretConvertible,
        methods: Methods = [.basic, .digest],
        origin: HTTPOrigin? = nil
    ) {
        storage = Storage(user, password.asSecret(), methods, origin)
    }

    /// The user name.
    public var user: String { storage.user }
    /// The password. Descriptions do not show it.
    public var password: String { storage.password.reveal() }
    /// The allowed authentication methods.
    public var methods: Methods { storage.methods }
    /// The origin that may receive the credentials; nil if it has not been determined.
    package var origin: HTTPOrigin? { storage.origin }
    /// False if the credentials only answer challenges, also in a known protection space.
    package var isPreemptive: Bool { storage.isPreemptive }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    /// Returns the credentials restricted to an origin, unless they have one already.
    package func bound(to origin: HTTPOrigin) -> ChallengeCredentials {
        if self.origin != nil { return self }
        return ChallengeCredentials(user: user, password: storage.password, methods: methods, origin: origin)
    }

    /// Returns the credentials with some of their methods, with which they only answer challenges, or nil for none.
    package func answering(_ methods: Methods) -> ChallengeCredentials? {
        if methods.isEmpty { return nil }
        return ChallengeCredentials(Storage(user, storage.password, methods, origin, isPreemptive: false))
    }

    /// Returns true if user, password, methods and origin are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.storage === rhs.storage
            || lhs.user == rhs.user && lhs.storage.password == rhs.storage.password && lhs.methods == rhs.methods
                && lhs.origin == rhs.origin
    }

    /// Hashes the user name and the origin.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(origin)
    }
}

extension ChallengeCredentials: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The user name, without the password.
    public var description: String { "credentials of “\(user)”" }
}

extension ChallengeCredentials {
    /// Rejects control characters, and a colon in a user name if Basic is allowed (RFC 7617 §2).
    package func validate() throws(SluiceError) {
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        guard !user.utf8.contains(where: isControl), !password.utf8.contains(where: isControl),
            !methods.contains(.basic) || !user.utf8.contains(UInt8(ascii: ":"))
        else {
            throw SluiceError(
                .invalidHeader,
                "The credentials cannot be sent: the user name must not contain a colon, and neither the user name nor the password may contain control characters."
            )
        }
    }

    /// The value of the `Authorization` field with Basic.
    package var basic: String { Self.basic(user, password) }

    /// Returns the value of the `Authorization` field with Basic (RFC 7617 §2).
    package static func basic(_ user: String, _ password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }
}
