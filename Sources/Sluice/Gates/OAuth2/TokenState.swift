import SluiceFoundation
import SluiceHTTP

/// The state of a gate's token and of the work on it: a state machine without side effects,
/// which turns events into steps.
///
///     requested ─▸ admitted      there is a valid token
///               ─▸ waiting       work on a token is running
///               ─▸ refused       no token can be obtained
///               ─▸ begin ─▸ load ─▸ save ─▸ lock ─▸ refresh ─▸ save ─▸ finish
///                                                   │ invalid_grant
///                                                   └▸ delete ─▸ request ─▸ save ─▸ finish
///
/// Work skips the steps that it does not need. The step `lock` is only for a store that other processes may share: one of
/// them may have replaced the token, and its refresh token is then spent. Where a lock has expired before the token is saved
/// or deleted, the work drops its token and loads again. One piece of work runs at a time. A sign-in or sign-out is exclusive work:
/// requests without a valid token wait until it ends, and then try again. A received token is saved before it is used, because a
/// server that rotates refresh tokens has already invalidated the old one.
struct TokenState: Sendable {
    /// The constant settings.
    struct Rules: Sendable {
        /// True if the grant can be used again without a refresh token and without the user.
        var isRepeatable = false
        var usesRefreshTokens = true
        /// True if other processes may use the store.
        var sharesStore = false
        /// True if a token that could not be saved is used nevertheless.
        var allowsUnsavedTokens = false
        var scope: String?
        var margin = Duration.seconds(60)
        var limit = OAuth2.RefreshLimit()
    }

    enum Answer: Sendable {
        case admitted(Credential)
        case waiting
        case begin(work: Int, Step)
        case refused(OAuth2Error)
    }

    /// The next step of the work.
    enum Step: Sendable {
        case load
        case save(OAuth2.Token)
        /// Lock the store until the work ends, and load the token again.
        case lock
        case refresh(Secret)
        case request
        /// Delete the token from the store: the server refused its refresh token.
        case delete
        /// Resume all waiters.
        case finish(Result<Credential, OAuth2Error>)
        /// Do nothing: other work has started, or the work was cancelled.
        case stop
    }

    struct CurrentToken: Sendable {
        var credential: Credential
        /// True if an API has refused the token.
        var isRefused = false
        /// The time in which refusals of the token are final, because the authorization server has issued it again after the last one.
        var reissue: Range<Date>?
        /// True if the token has not been saved to the store yet.
        var isUnsaved = false
        /// True if the token has been deleted from the store.
        var isDeleted = false
        /// The time in which the token is used without an attempt to replace it, because the last attempt has failed or takes long.
        var renewalPause: Range<Date>?
    }

    enum TokenStatus: Sendable {
        /// The store has not been read yet.
        case unknown
        case absent
        case token(CurrentToken)
    }

    struct Work: Sendable {
        enum Stage: Sendable {
            case loading
            case saving
            case locking
            case refreshing(Secret)
            case requesting
            /// Deletes the token with a refresh token that the server has refused.
            case deleting(Secret)
            case exclusive
        }

        let id: Int
        var stage: Stage
        let isExclusive: Bool
        var hasReceived = false
        var isLocked = false
        /// The reason why a refresh token was dropped.
        var cause: OAuth2Error?
        /// The reason why refresh tokens are not sent.
        var interruption: OAuth2Error?
    }

    /// The seconds from an attempt to replace a token that can be used, which has failed or led to the same token, to the next one.
    private static let renewalPause: TimeInterval = 10

    let rules: Rules
    var status = TokenStatus.unknown
    var work: Work?
    /// The refresh token of the grant, until it has been used.
    var initialRefreshToken: Secret?
    var window: RefreshWindow
    /// True if the store may still hold a token that was signed out, because it could not be deleted.
    var ignoresStore = false
    /// The refresh token that the server has refused, if the store may still hold it, because it could not be deleted.
    private var refusedRefreshToken: Secret?
    private(set) var waiting = 0
    private(set) var lastFailure: OAuth2Error?
    private var version = 0
    /// The first version since the last sign-in or sign-out. Earlier tokens may be those of another user.
    private var firstVersion = 0
    /// The number of sign-ins and sign-outs.
    private(set) var session = 0
    private var lastWork = 0
    /// The number of times that the token may have got another owner: sign-ins, sign-outs and tokens of other processes.
    private(set) var owner = 0

    init(_ rules: Rules, initialRefreshToken: Secret? = nil) {
        self.rules = rules
        self.initialRefreshToken = initialRefreshToken
        window = RefreshWindow(rules.limit)
    }

    /// The credential that can be used at once. A token that cannot be replaced is used until it expires. After a failed attempt to replace
    /// it, requests use it during the next attempts as well, but the work does not.
    func credential(at date: Date, forWork: Bool = false) -> Credential? {
        guard let current, !current.isUnsaved, isUsable(at: date) else { return nil }
        let isPaused = current.renewalPause.map { $0.contains(date) || work != nil && !forWork } ?? false
        if isPaused { return current.credential }
        return canRenew && !current.credential.isFresh(at: date) ? nil : current.credential
    }

    mutating func credentialRequested(at moment: ClockReading) -> Answer {
        if let credential = credential(at: moment.date) { return .admitted(credential) }
        if work != nil {
            waiting += 1
            return .waiting
        }
        let id = beginWork(.loading, isExclusive: false)
        switch next(at: moment) {
        case .finish(.success(let credential)): return .admitted(credential)
        case .finish(.failure(let error)): return .refused(error)
        case let step:
            waiting = 1
            return .begin(work: id, step)
        }
    }

    /// Removes a waiter, whose deadline may have passed.
    ///
    /// - Returns: True if the work is to be cancelled, because no waiter is left. Work that uses a refresh token is
    ///   never cancelled: the server may have replaced it, and the new token would be lost.
    mutating func leave(hasTimedOut: Bool = false, at date: Date) -> Bool {
        waiting = max(0, waiting - 1)
        guard waiting == 0, let work, !work.isExclusive else { return false }
        // Requests use the token during the rest of the attempt. Otherwise a server that is slower than they are would fail each of them.
        if pauseRenewal(at: date) { return false }
        switch work.stage {
        case .loading, .locking: break
        // The request has its own time-out, and later requests join it. They would never get a token from a slow server otherwise.
        case .requesting where hasTimedOut: return false
        case .requesting: window.removeLast()
        case .saving, .refreshing, .deleting, .exclusive: return false
        }
        self.work = nil
        return true
    }

    /// Ends the wait for work that takes long, if the current token can be used meanwhile. Later requests then do not wait for this work.
    ///
    /// - Returns: The credential for all waiters; nil if they have to wait on.
    mutating func endWait(for id: Int, at date: Date) -> Credential? {
        guard isWorking(id), work?.isExclusive == false, let current, !current.isUnsaved, pauseRenewal(at: date)
        else { return nil }
        waiting = 0
        return current.credential
    }

    /// Handles the refusal of a credential by an API.
    ///
    /// - Returns: True if another token may be accepted: the refused token was not the newest, or it can be replaced. False
    ///   after a sign-in or sign-out, because the request belongs to the user before, and soon after the authorization
    ///   server has issued the refused token again, because the refusal then has another reason than the token.
    mutating func refused(version: Int, at moment: ClockReading) -> Bool {
        if version < firstVersion { return false }
        guard case .token(var current) = status, current.credential.version == version, !current.isRefused else {
            return true
        }
        if current.reissue?.contains(moment.date) == true { return false }
        if canRenew, !window.isOpen(at: moment.now) || window.refusal(at: moment.now) != nil { return false }
        current.isRefused = true
        status = .token(current)
        return true
    }
}

extension TokenState {
    /// Starts exclusive work and returns its number; nil if other work is running.
    mutating func beginExclusiveWork() -> Int? {
        work == nil ? beginWork(.exclusive, isExclusive: true) : nil
    }

    /// Adds a waiter for the end of the running work. Returns false if no work is running.
    mutating func join() -> Bool {
        guard work != nil else { return false }
        waiting += 1
        return true
    }

    /// Ends exclusive work that has not ended with a token.
    mutating func endExclusiveWork(_ id: Int) {
        if work?.id == id { endWork() }
    }

    /// Removes the token.
    ///
    /// - Returns: The access token and the refresh token that were removed.
    mutating func signOut() -> (access: Secret?, refresh: Secret?) {
        var token: OAuth2.Token?
        if case .token(let current) = status { token = current.credential.token }
        defer {
            status = .absent
            initialRefreshToken = nil
            beginSession()
        }
        return (token?.access, token?.refresh ?? initialRefreshToken)
    }

    private mutating func beginSession() {
        owner += 1
        session += 1
        firstVersion = version + 1
    }

    func isWorking(_ id: Int) -> Bool { work?.id == id }

    mutating func beginWork(_ stage: Work.Stage, isExclusive: Bool) -> Int {
        lastWork += 1
        work = Work(id: lastWork, stage: stage, isExclusive: isExclusive)
        return lastWork
    }

    private mutating func endWork() {
        work = nil
        waiting = 0
    }

    mutating func finish(_ outcome: Result<Credential, OAuth2Error>) -> Step {
        endWork()
        if case .success = outcome { lastFailure = nil }
        return .finish(outcome)
    }

    /// Ends the work with a failure, or with the current token if that may still be valid. The next attempt then follows after a pause.
    mutating func fail(_ error: OAuth2Error, at date: Date) -> Step {
        guard work?.isExclusive != true else { return finish(.failure(error)) }
        if error.code != .tooManyRefreshes { lastFailure = error }
        guard let current, !current.isUnsaved || rules.allowsUnsavedTokens, pauseRenewal(at: date) else {
            return finish(.failure(error))
        }
        endWork()
        return .finish(.success(current.credential))
    }

    /// Lets requests use the current token until the next attempt to replace it. Returns false if they must not use it.
    private mutating func pauseRenewal(at date: Date) -> Bool {
        guard var current, isUsable(at: date) else { return false }
        // Each request that finds its token unsaved ends here. It must not prolong the pause.
        if current.renewalPause?.contains(date) != true { current.renewalPause = date..<date + Self.renewalPause }
        status = .token(current)
        return true
    }

    /// Replaces the current token.
    mutating func setToken(
        _ token: OAuth2.Token,
        isRefused: Bool = false,
        isReissued: Bool = false,
        isUnsaved: Bool,
        at date: Date
    ) {
        version += 1
        let credential = Credential(token, version: version, margin: rules.margin, at: date)
        let reissue = isReissued ? date..<date + Self.renewalPause : nil
        status = .token(
            CurrentToken(credential: credential, isRefused: isRefused, reissue: reissue, isUnsaved: isUnsaved)
        )
    }
}

// The transitions at the end of each step. Work that was cancelled or replaced gets ``Step/stop``.
extension TokenState {
    /// True if a new token can be obtained without the user.
    var canRenew: Bool { rules.isRepeatable || initialRefreshToken != nil || refreshToken != nil }

    private var current: CurrentToken? {
        if case .token(let current) = status { current } else { nil }
    }

    /// True if the token has not been saved to the store yet.
    var isUnsaved: Bool { current?.isUnsaved ?? false }

    /// True if requests may use the token once it is saved: it was not refused and has not expired.
    func isUsable(at date: Date) -> Bool {
        current.map { !$0.isRefused && !$0.credential.token.hasExpired(at: date) } ?? false
    }

    private var refreshToken: Secret? {
        rules.usesRefreshTokens ? current?.credential.token.refresh : nil
    }

    /// Returns the next step, given the token and the store.
    mutating func next(at moment: ClockReading, cause: OAuth2Error? = nil) -> Step {
        if case .unknown = status {
            work?.stage = .loading
            return .load
        }
        if let current, current.isUnsaved {
            work?.stage = .saving
            return .save(current.credential.token)
        }
        if let credential = credential(at: moment.date, forWork: true) { return finish(.success(credential)) }
        if rules.sharesStore, work?.isLocked == false {
            work?.stage = .locking
            return .lock
        }
        if let interruption = work?.interruption, !rules.isRepeatable {
            return fail(interruption, at: moment.date)
        }
        guard canRenew else {
            let detail = cause.map { cause in
                "the refresh token is no longer valid" + (cause.detail.map { " (\($0))" } ?? "")
            }
            return fail(OAuth2Error(.authorizationRequired, detail, underlyingError: cause), at: moment.date)
        }
        if let refusal = window.refusal(at: moment.now) { return fail(refusal, at: moment.date) }
        guard window.isOpen(at: moment.now) || !isUsable(at: moment.date) && window.allowsTrial(at: moment.now) else {
            let last = lastFailure.map { "; the last failure was “\($0.code.rawValue)”" } ?? ""
            let limit = "\(rules.limit.count) times in \(rules.limit.interval)\(last)"
            return fail(OAuth2Error(.tooManyRefreshes, limit, underlyingError: lastFailure), at: moment.date)
        }
        window.add(moment.now)
        if work?.interruption == nil, let token = refreshToken ?? initialRefreshToken {
            work?.stage = .refreshing(token)
            return .refresh(token)
        }
        work?.stage = .requesting
        return .request
    }

    /// Handles the result of reading the store.
    mutating func loaded(_ result: Result<OAuth2.Token?, OAuth2Error>, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id) else { return .stop }
        switch result {
        case .failure(let error):
            return fail(error, at: moment.date)
        case .success(let token):
            status = .absent
            if let token, !isIgnored(token) { setToken(token, isUnsaved: false, at: moment.date) }
            return next(at: moment)
        }
    }

    /// Handles the result of locking the store and loading its token.
    mutating func locked(_ result: Result<OAuth2.Token?, OAuth2Error>, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id) else { return .stop }
        work?.isLocked = true
        switch result {
        case .failure(let error): return fail(error, at: moment.date)
        case .success(let token):
            adopt(token.flatMap { isIgnored($0) ? nil : $0 }, at: moment.date)
            return next(at: moment)
        }
    }

    /// True if a token in the store counts as deleted.
    private func isIgnored(_ token: OAuth2.Token) -> Bool {
        ignoresStore || refusedRefreshToken.map { $0 == token.refresh } ?? false
    }

    /// Takes the token of the store over, if another process has replaced or deleted it.
    private mutating func adopt(_ stored: OAuth2.Token?, at date: Date) {
        let known = current?.credential.token
        if let stored {
            guard stored.access != known?.access || stored.refresh != known?.refresh else { return }
            let isRefused = current?.isRefused == true && stored.access == known?.access
            setToken(stored, isRefused: isRefused, isUnsaved: false, at: date)
        } else {
            guard let current, !current.isDeleted else { return }
            status = .absent
        }
        owner += 1
        // The other process may have used it, or has signed out.
        initialRefreshToken = nil
    }

    /// Handles the result of a request for a token.
    mutating func received(_ result: Result<OAuth2.Token, OAuth2Error>, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id), let stage = work?.stage else { return .stop }
        // The request of a sign-in is not counted.
        if work?.isExclusive == false { window.record(result, at: moment.now) }
        switch result {
        case .failure(let error):
            guard case .refreshing(let token) = stage, error.endsRefreshToken else {
                return fail(error, at: moment.date)
            }
            drop(refreshToken: token)
            work?.stage = .deleting(token)
            work?.cause = error
            return .delete
        case .success(var token):
            let previous = current
            if case .refreshing(let used) = stage {
                // Without a new refresh token in the response, the old one stays valid (RFC 6749 §6).
                token.refreshToken = token.refreshToken ?? used.reveal()
                token.scope = token.scope ?? previous?.credential.token.scope
                if initialRefreshToken == used { initialRefreshToken = nil }
            }
            token.scope = token.scope ?? rules.scope
            if work?.isExclusive == true {
                // Such a token can neither be used nor refreshed. The previous one may still be valid.
                if token.refresh == nil, token.hasExpired(at: moment.date) {
                    return fail(OAuth2Error(.expiredToken), at: moment.date)
                }
                // The token of a sign-in is used even if it cannot be saved.
                beginSession()
            }
            let isSame = previous?.credential.token.accessToken == token.accessToken
            let isReissued = isSame && (previous?.isRefused == true || previous?.reissue?.contains(moment.date) == true)
            setToken(token, isReissued: isReissued, isUnsaved: true, at: moment.date)
            work?.hasReceived = true
            work?.stage = .saving
            return .save(token)
        }
    }

    mutating func saved(_ result: Result<Void, OAuth2Error>, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id), var current, let work else { return .stop }
        switch result {
        case .failure(let error):
            return error.isExpiredLock ? readAgain(after: error, at: moment) : fail(error, at: moment.date)
        case .success:
            current.isUnsaved = false
            status = .token(current)
            ignoresStore = false
            refusedRefreshToken = nil
            // An API may have refused a token that requests have used before it was saved.
            guard work.hasReceived, work.isExclusive || !current.isRefused else { return next(at: moment) }
            // The next request refreshes the token of a sign-in.
            if work.isExclusive, current.credential.token.refresh != nil {
                window.removeAll()
                return finish(.success(current.credential))
            }
            // The token's age is not checked against the refresh margin again, which could
            // loop for a short-lived token.
            if current.credential.token.hasExpired(at: moment.date) {
                return fail(OAuth2Error(.expiredToken), at: moment.date)
            }
            if work.isExclusive { window.removeAll() }
            return finish(.success(current.credential))
        }
    }

    /// Handles the deletion of the token whose refresh token the server refused.
    mutating func deleted(_ result: Result<Void, OAuth2Error>, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id) else { return .stop }
        if case .failure(let error) = result {
            if error.isExpiredLock { return readAgain(after: error, at: moment) }
            if case .deleting(let token)? = work?.stage { refusedRefreshToken = token }
        }
        if var current {
            current.isDeleted = true
            status = .token(current)
        }
        return next(at: moment, cause: work?.cause)
    }

    /// Handles a lock that would not be held long enough for a request, which is not sent.
    mutating func lockEnds(work id: Int) -> Step {
        guard isWorking(id) else { return .stop }
        window.removeLast()
        work?.isLocked = false
        work?.stage = .locking
        return .lock
    }

    /// Handles a refresh token that must not be sent, or that the store cannot record. It was not sent.
    mutating func notSent(_ error: OAuth2Error, work id: Int, at moment: ClockReading) -> Step {
        guard isWorking(id) else { return .stop }
        window.removeLast()
        guard error.underlyingError is RefreshInterrupted else { return fail(error, at: moment.date) }
        // The token stays in the store: the process that has sent it may be alive and save the new one.
        work?.interruption = error
        return next(at: moment)
    }

    /// Drops the token, because another process has locked the store after the lock of this one had expired. The token
    /// in the store counts.
    private mutating func readAgain(after error: OAuth2Error, at moment: ClockReading) -> Step {
        status = .unknown
        initialRefreshToken = nil
        guard work?.isExclusive == false else { return fail(error, at: moment.date) }
        work?.isLocked = false
        return next(at: moment)
    }

    private mutating func drop(refreshToken token: Secret) {
        if initialRefreshToken == token { initialRefreshToken = nil }
        guard var current, current.credential.token.refresh == token else { return }
        current.credential = current.credential.withoutRefreshToken
        status = .token(current)
    }
}

extension OAuth2Error {
    /// True if the server refuses the refresh token for good: the error of RFC 6749 §5.2, or one that some servers send in its place.
    fileprivate var endsRefreshToken: Bool {
        let others = ["bad_refresh_token", "invalid_refresh_token", "expired_token", "invalid_token"]
        return code == .invalidGrant || others.contains(code.rawValue)
    }

    /// True if the server could not process the request, whatever its token.
    var isOutage: Bool {
        code == .unreachable || status?.isServerError == true || status == .tooManyRequests
    }

    /// True if the lock of the store has expired, and another process has used it since.
    fileprivate var isExpiredLock: Bool { underlyingError is TokenLockExpired }
}

/// A point in time, by the continuous clock and as a date.
struct ClockReading: Sendable {
    let now: ContinuousClock.Instant
    let date: Date

    init(now: ContinuousClock.Instant, date: Date) {
        self.now = now
        self.date = date
    }

    init(_ clock: any SluiceClock) {
        self.init(now: clock.now, date: clock.date)
    }
}
