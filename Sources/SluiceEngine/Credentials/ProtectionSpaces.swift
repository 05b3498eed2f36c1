#if os(Linux)
import SluiceHTTP

/// The protection spaces (RFC 9110 §11.5) that have accepted credentials, so that later requests send them without a challenge.
///
/// A space belongs to one realm of one server or proxy, and to one user with one password. With Digest, it covers the paths of `domain`
/// or all paths (RFC 7616 §3.3). With Basic, it covers the paths at or below the folder of the challenged request (RFC 7617 §2.2). Above
/// the limit, the least recently used space is removed.
package struct ProtectionSpaces: Sendable {
    fileprivate enum Scheme: Sendable {
        case basic
        case digest(DigestSession)
    }

    fileprivate struct Space: Sendable {
        let realm: String
        var scheme: Scheme
        var paths: [String]
        /// True once the server has accepted the credentials. Before that, they are only sent after a challenge.
        var isAccepted: Bool
        /// Later nonces, in the order of their challenges. The first of them that is accepted takes the place of the current one. Until then,
        /// only the request that received it uses it: a server may refuse counts out of order.
        var pending: [(session: DigestSession, paths: [String])] = []
        var lastUse: UInt64
    }

    /// Credentials that are sent without a challenge.
    package enum Known: Sendable {
        case basic(realm: String)
        case digest(DigestAnswer)
    }

    /// The maximum number of nonces of one space that have not been accepted.
    fileprivate static let maximumPending = 32
    /// The maximum number of paths of one space.
    package static let maximumPaths = 16

    private let limit: Int
    private var spaces: [AuthenticationCredentials: [Space]] = [:]
    private var uses: UInt64 = 0
    package private(set) var count = 0

    package init(limit: Int = 256) {
        self.limit = max(1, limit)
    }

    // MARK: Requests

    /// Returns the credentials of a known protection space for a message, or nil for none.
    package mutating func known(
        _ credentials: AuthenticationCredentials,
        for message: AuthenticatedMessage,
        cnonce: () -> String
    ) -> Known? {
        guard let candidates = spaces[credentials] else { return nil }
        let path = path(of: message, credentials)
        var best: (index: Int, length: Int)?
        for (index, space) in candidates.enumerated() where space.isAccepted {
            guard let length = PathSpace.longestMatch(of: space.paths, path), space.supports(message) else { continue }
            if let found = best, (found.length, candidates[found.index].lastUse) > (length, space.lastUse) { continue }
            best = (index, length)
        }
        guard let best else { return nil }
        let lastUse = nextUse()
        var known: Known?
        update(credentials, best.index) { space in
            space.lastUse = lastUse
            known = space.next(as: credentials, cnonce: cnonce)
        }
        return known
    }

    /// Returns the next answer to a challenge. Answers with the same nonce have different counts, even for different requests.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - credentials: The name and password.
    ///   - message: The message that was challenged.
    ///   - count: The number of answers that the transfer has already sent with the nonce.
    ///   - cnonce: Returns a new client nonce.
    /// - Returns: The answer.
    package mutating func answer(
        _ challenge: DigestChallenge,
        as credentials: AuthenticationCredentials,
        to message: AuthenticatedMessage,
        after count: UInt32 = 0,
        cnonce: () -> String
    ) -> DigestAnswer {
        let lastUse = nextUse()
        let paths = paths(of: challenge, credentials, message)
        let index = firstIndex(of: challenge.realm, credentials)
        var space = Space(
            realm: challenge.realm,
            scheme: .digest(DigestSession(challenge)),
            paths: paths,
            isAccepted: false,
            lastUse: lastUse
        )
        if let index, let known = spaces[credentials]?[index], case .digest = known.scheme {
            space = known
            space.lastUse = lastUse
        }
        let answer = space.answer(challenge, covering: paths, as: credentials, after: count, cnonce: cnonce)
        store(space, credentials, at: index)
        return answer
    }

    // MARK: Responses

    /// Records that the server has accepted an answer, and the next nonce (RFC 7616 §3.5).
    package mutating func accept(_ answer: DigestAnswer, nextNonce: String? = nil) {
        let credentials = answer.credentials
        guard let index = firstIndex(of: answer.challenge.realm, credentials) else { return }
        update(credentials, index) { space in
            guard case .digest(var session) = space.scheme else { return }
            if !session.nonce.hasBytes(of: answer.nonce) {
                guard let position = space.pendingIndex(of: answer.nonce) else { return }
                (session, space.paths) = space.pending[position]
                space.pending.removeFirst(position + 1)
            }
            space.isAccepted = true
            if let nextNonce { session.replaceNonce(with: nextNonce) }
            space.scheme = .digest(session)
        }
    }

    /// Records that the server has accepted credentials with Basic.
    package mutating func acceptBasic(
        realm: String,
        _ credentials: AuthenticationCredentials,
        for message: AuthenticatedMessage
    ) {
        let folder = PathSpace.folder(of: path(of: message, credentials))
        let index = firstIndex(of: realm, credentials)
        var paths = [folder]
        if let index, let space = spaces[credentials]?[index], case .basic = space.scheme {
            if space.paths.contains(where: { PathSpace.match($0, folder) != nil }) {
                paths = space.paths
            } else {
                let others = space.paths.filter { PathSpace.match(folder, $0) == nil }
                paths = (others + paths).suffix(ProtectionSpaces.maximumPaths)
            }
        }
        let space = Space(realm: realm, scheme: .basic, paths: paths, isAccepted: true, lastUse: nextUse())
        store(space, credentials, at: index)
    }

    /// Removes the nonce of a refused answer.
    package mutating func refuse(_ answer: DigestAnswer) {
        remove(answer.challenge.realm, answer.credentials) { space in
            if case .digest(let session) = space.scheme {
                session.nonce.hasBytes(of: answer.nonce) || space.pendingIndex(of: answer.nonce) != nil
            } else {
                false
            }
        }
    }

    /// Records that the server has refused credentials with Basic.
    package mutating func refuseBasic(realm: String, _ credentials: AuthenticationCredentials) {
        remove(realm, credentials) { space in
            if case .basic = space.scheme { true } else { false }
        }
    }

    // MARK: Storage

    private mutating func nextUse() -> UInt64 {
        uses += 1
        return uses
    }

    private func firstIndex(of realm: String, _ credentials: AuthenticationCredentials) -> Int? {
        spaces[credentials]?.firstIndex { $0.realm.hasBytes(of: realm) }
    }

    private mutating func update(
        _ credentials: AuthenticationCredentials,
        _ index: Int,
        _ body: (inout Space) -> Void
    ) {
        guard let count = spaces[credentials]?.count, index < count else { return }
        body(&spaces[credentials, default: []][index])
    }

    private mutating func store(_ space: Space, _ credentials: AuthenticationCredentials, at index: Int?) {
        if let index {
            update(credentials, index) { $0 = space }
            return
        }
        if count == limit { removeLeastRecentlyUsed() }
        spaces[credentials, default: []].append(space)
        count += 1
    }

    private mutating func remove(
        _ realm: String,
        _ credentials: AuthenticationCredentials,
        if isRemoved: (Space) -> Bool
    ) {
        guard let index = firstIndex(of: realm, credentials), let space = spaces[credentials]?[index], isRemoved(space)
        else { return }
        remove(at: index, credentials)
    }

    private mutating func remove(at index: Int, _ credentials: AuthenticationCredentials) {
        spaces[credentials]?.remove(at: index)
        if spaces[credentials]?.isEmpty == true { spaces[credentials] = nil }
        count -= 1
    }

    private mutating func removeLeastRecentlyUsed() {
        var oldest: (credentials: AuthenticationCredentials, index: Int, lastUse: UInt64)?
        for (credentials, list) in spaces {
            for (index, space) in list.enumerated() where space.lastUse < oldest?.lastUse ?? .max {
                oldest = (credentials, index, space.lastUse)
            }
        }
        if let oldest { remove(at: oldest.index, oldest.credentials) }
    }

    // MARK: Paths

    /// Returns the path of a message without its query, or `/` for a proxy, whose protection space is the whole proxy (RFC 7616 §3.3).
    private func path(of message: AuthenticatedMessage, _ credentials: AuthenticationCredentials) -> String {
        if credentials.isForProxy { return "/" }
        return PathSpace.path(of: message.uri)
    }

    /// Returns the paths that a Digest challenge covers.
    private func paths(
        of challenge: DigestChallenge,
        _ credentials: AuthenticationCredentials,
        _ message: AuthenticatedMessage
    ) -> [String] {
        guard case .server(let origin) = credentials.target, !challenge.domain.isEmpty else { return ["/"] }
        let paths = challenge.domain.prefix(ProtectionSpaces.maximumPaths).compactMap {
            ProtectionSpaces.path(of: $0, at: origin)
        }
        // If all URIs of the list belong to other servers, which must not receive these credentials, only this path is covered.
        return paths.isEmpty ? [path(of: message, credentials)] : paths
    }

    /// Returns the path of a `domain` URI. Nil for another origin, or if the URI is neither a URL nor an absolute path.
    private static func path(of uri: String, at origin: HTTPOrigin) -> String? {
        if uri.hasPrefix("/") { return uri.hasPrefix("//") ? nil : PathSpace.path(of: uri) }
        guard let colon = uri.firstIndex(of: ":"), uri[colon...].hasPrefix("://") else { return nil }
        let rest = uri[colon...].dropFirst(3)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard HTTPOrigin(scheme: String(uri[..<colon]), authority: String(authority)) == origin else { return nil }
        let path = PathSpace.path(of: String(rest[authority.endIndex...]))
        return path.isEmpty ? "/" : path
    }
}

extension ProtectionSpaces.Space {
    /// Returns true if the authentication scheme of the space can cover a message.
    func supports(_ message: AuthenticatedMessage) -> Bool {
        switch scheme {
        case .basic: true
        case .digest(let session): !session.isExhausted && session.challenge.protection(for: message.upload) != nil
        }
    }

    func pendingIndex(of nonce: String) -> Int? {
        pending.firstIndex { $0.session.nonce.hasBytes(of: nonce) }
    }

    /// Returns the next answer with the nonce of a challenge, which is stored as pending if it is not the current one.
    mutating func answer(
        _ challenge: DigestChallenge,
        covering paths: [String],
        as credentials: AuthenticationCredentials,
        after count: UInt32,
        cnonce: () -> String
    ) -> DigestAnswer {
        let position = pendingIndex(of: challenge.nonce)
        if case .digest(var current) = scheme, current.nonce.hasBytes(of: challenge.nonce) {
            self.paths = paths
            current.raise(to: count)
            defer { scheme = .digest(current) }
            return current.answer(as: credentials, cnonce: cnonce)
        }
        var session = position.map { pending[$0].session } ?? DigestSession(challenge)
        session.raise(to: count)
        let answer = session.answer(as: credentials, cnonce: cnonce)
        if let position { pending[position].session = session } else { pending.append((session, paths)) }
        if pending.count > ProtectionSpaces.maximumPending { pending.removeFirst() }
        return answer
    }

    /// Returns the credentials for the next request in the space.
    mutating func next(
        as credentials: AuthenticationCredentials,
        cnonce: () -> String
    ) -> ProtectionSpaces.Known? {
        switch scheme {
        case .basic: return .basic(realm: realm)
        case .digest(var session):
            let answer = session.answer(as: credentials, cnonce: cnonce)
            scheme = .digest(session)
            return .digest(answer)
        }
    }
}
#endif
