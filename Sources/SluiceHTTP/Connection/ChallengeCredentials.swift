#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A user's name and password, for servers that ask for them by HTTP's own authentication: Basic (RFC 7617) and Digest (RFC 7616).
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.credentials = ChallengeCredentials(user: "ada", password: "s3cret")
/// }
/// ```
///
/// The engine answers the server's challenge (RFC 9110 §11.6.1) and brings the response to the answer; credentials that the server does
/// not accept bring its 401, and so does a challenge that cannot be answered. A body is then sent twice, and one that can be read only
/// once fails the request with ``SluiceError/Code/bodyNotReplayable``. A request that has an `Authorization` header of its own goes
/// without them.
///
/// On Linux, once they have been accepted, later requests of the same transport to the same protection space have them at once. With
/// Digest alone, a body that can be read only once waits for the challenge: the request goes without it first.
public struct ChallengeCredentials: Sendable, Hashable {
    /// How a server may ask.
    public struct Methods: OptionSet, Sendable, Hashable {
        /// A bit a method.
        public let rawValue: UInt8

        /// Makes a set of bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The password as it is. Where nothing else is allowed it is sent at once, without a challenge.
        public static let basic = Methods(rawValue: 1)
        /// A proof that one knows the password: MD5, SHA-256 and SHA-512-256, each with and without `-sess`; of several the strongest.
        ///
        /// A server that has the body covered (`auth-int` and not `auth`) is answered where the body lies in memory and has 1 MiB at
        /// most.
        public static let digest = Methods(rawValue: 2)
    }

    /// All in one allocation, so that what carries credentials stays small.
    private final class Storage: Sendable {
        let user: String
        let password: Secret
        let methods: Methods
        let origin: HTTPOrigin?

        init(_ user: String, _ password: Secret, _ methods: Methods, _ origin: HTTPOrigin?) {
            self.user = user
            self.password = password
            self.methods = methods
            self.origin = origin
        }
    }

    private let storage: Storage

    /// Makes credentials.
    ///
    /// - Parameters:
    ///   - user: The name, sent in UTF-8, without a colon or control characters.
    ///   - password: The password, a `String` or a ``Secret``, sent in UTF-8, without control characters.
    ///   - methods: How the server may ask; by Basic and Digest by default. Where it offers both, Digest is taken.
    ///   - origin: To whom they may go. By default to the origin of the client's base URL where the client has them, and to that of
    ///     the request where a request has them.
    public init(
        user: String,
        password: some SecretConvertible,
        methods: Methods = [.basic, .digest],
        origin: HTTPOrigin? = nil
    ) {
        storage = Storage(user, password.asSecret(), methods, origin)
    }

    /// The name.
    public var user: String { storage.user }
    /// The password itself; no description shows it.
    public var password: String { storage.password.reveal() }
    /// How the server may ask.
    public var methods: Methods { storage.methods }
    /// To whom they may go; nil until they are on their way.
    public var origin: HTTPOrigin? { storage.origin }

    /// The same for one origin, unless they have one already.
    package func bound(to origin: HTTPOrigin) -> ChallengeCredentials {
        if self.origin != nil { return self }
        return ChallengeCredentials(user: user, password: storage.password, methods: methods, origin: origin)
    }

    /// Whether both are the same.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.storage === rhs.storage
            || lhs.user == rhs.user && lhs.storage.password == rhs.storage.password && lhs.methods == rhs.methods
                && lhs.origin == rhs.origin
    }

    /// Hashes the name and where they may go.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(origin)
    }
}

extension ChallengeCredentials: CustomStringConvertible {
    /// The name; never the password.
    public var description: String { "credentials of “\(user)”" }
}

extension ChallengeCredentials: CustomReflectable {
    /// The name; never the password.
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

extension ChallengeCredentials {
    /// Refuses control characters, and a colon in a name that may go by Basic (RFC 7617 §2).
    package func validate() throws(SluiceError) {
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        guard !user.utf8.contains(where: isControl), !password.utf8.contains(where: isControl),
            !methods.contains(.basic) || !user.utf8.contains(UInt8(ascii: ":"))
        else {
            throw SluiceError(
                .invalidHeader,
                "The credentials cannot be sent: a user's name must hold no colon, and neither it nor the password a control character."
            )
        }
    }

    /// What stands behind `Basic` (RFC 7617 §2).
    package var basicToken: String {
        Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

extension TransferContext {
    /// The credentials that a transport may answer a challenge to this request with; nil where they are for another origin, or
    /// where the request has an `Authorization` header of its own.
    ///
    /// - Parameter request: The request that is sent.
    /// - Returns: Credentials that have been checked.
    /// - Throws: ``SluiceError/Code/invalidHeader`` for credentials that cannot be sent, ``SluiceError/Code/unsupported`` for those
    ///   that have no origin.
    public func credentials(for request: HTTPRequest) throws(SluiceError) -> ChallengeCredentials? {
        guard let credentials, !request.headers.contains(.authorization) else { return nil }
        do throws(SluiceError) {
            guard let origin = credentials.origin else { throw SluiceError.noOrigin }
            guard origin == request.origin else { return nil }
            try credentials.validate()
        } catch {
            throw error.with(request: request)
        }
        return credentials
    }
}

extension SluiceError {
    fileprivate static var noOrigin: SluiceError {
        SluiceError(
            .unsupported,
            "The client has no base URL, so nobody has said where its credentials may go: give them an origin."
        )
    }
}
