import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a gate has of a token and what is being done about it, as a value: what happens goes in, what to do next comes out.
///
///     ask ─▸ admitted            a token is there and good
///         ─▸ waiting             somebody is at work on one already
///         ─▸ refused             there is no way to one
///         ─▸ begin ─▸ load ─▸ save ─▸ refresh ─▸ save ─▸ finish
///                                     │ invalid_grant
///                                     └▸ forget ─▸ request ─▸ save ─▸ finish
///
/// Each work passes through those of the steps that it needs. There is one at a time; the user's own, signing in or out, is
/// called a turn. What is received is saved before anybody uses it, since a server that rotates refresh tokens has ceased to
/// know the old one.
struct TokenState: Sendable {
    /// What never changes.
    struct Rules: Sendable {
        /// Whether the grant gives a token without a refresh token and without the user.
        var isRepeatable = false
        var usesRefreshTokens = true
        /// What is asked for.
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

    /// What a work has to do next.
    enum Step: Sendable {
        case load
        case save(OAuth2.Token)
        case refresh(Secret)
        case request
        /// Deletes from the store what the server no longer knows.
        case forget
        /// Tells all who wait.
        case finish(Outcome)
        /// Nothing: somebody else is at work now, or nobody needs to be.
        case stop
    }

    enum Outcome: Sendable {
        case admitted(Credential)
        case failed(OAuth2Error)
    }

    struct Held: Sendable {
        var credential: Credential
        /// Whether an API has refused it.
        var isRefused = false
        /// Whether the store has yet to take it.
        var isUnsaved = false
    }

    enum Holding: Sendable {
        /// Nobody has looked into the store.
        case unknown
        case nothing
        case token(Held)
    }

    struct Work: Sendable {
        enum Stage: Sendable {
            case loading
            case saving
            case refreshing(Secret)
            case requesting
            case forgetting
            case turn
        }

        let id: Int
        var stage: Stage
        let isTurn: Bool
        var hasReceived = false
        /// Why a refresh token was dropped.
        var cause: OAuth2Error?
    }

    let rules: Rules
    var holding = Holding.unknown
    var work: Work?
    /// A refresh token that came with the grant and has not been used yet.
    var seed: Secret?
    var window: RefreshWindow
    private(set) var waiting = 0
    private(set) var lastFailure: OAuth2Error?
    private var version = 0
    private var lastWork = 0

    init(_ rules: Rules, seed: Secret? = nil) {
        self.rules = rules
        self.seed = seed
        window = RefreshWindow(rules.limit)
    }

    /// The credential to use without any ado; one that nothing can replace is used to its end.
    func credential(at date: Date) -> Credential? {
        guard case .token(let held) = holding, !held.isUnsaved, !held.isRefused else { return nil }
        let credential = held.credential
        if credential.isFresh(at: date) { return credential }
        return canRenew || credential.token.isExpired(at: date) ? nil : credential
    }

    /// Somebody needs a credential.
    mutating func ask(at moment: Moment) -> Answer {
        if let credential = credential(at: moment.date) { return .admitted(credential) }
        if work != nil {
            waiting += 1
            return .waiting
        }
        let id = beginWork(.loading, isTurn: false)
        switch next(at: moment) {
        case .finish(.admitted(let credential)): return .admitted(credential)
        case .finish(.failed(let error)): return .refused(error)
        case let step:
            waiting = 1
            return .begin(work: id, step)
        }
    }

    /// One of those who wait has gone.
    ///
    /// - Returns: Whether the work is to be cancelled. It is where nobody waits any longer, but not while a refresh token is
    ///   being used: the server may have replaced it, and the new one must not be lost on its way.
    mutating func leave() -> Bool {
        waiting = max(0, waiting - 1)
        guard waiting == 0, let work, !work.isTurn else { return false }
        switch work.stage {
        case .loading: break
        case .requesting: window.removeLast()
        case .saving, .refreshing, .forgetting, .turn: return false
        }
        self.work = nil
        return true
    }

    /// An API has refused a credential.
    ///
    /// - Returns: Whether another one may do: where the refused one was not the newest, or can be replaced.
    mutating func refused(version: Int, at moment: Moment) -> Bool {
        guard case .token(var held) = holding, held.credential.version == version, !held.isRefused else { return true }
        if canRenew, !window.isOpen(at: moment.now) { return false }
        held.isRefused = true
        holding = .token(held)
        return true
    }
}

extension TokenState {
    /// Begins the user's own work, unless somebody is at work.
    mutating func beginTurn() -> Int? {
        work == nil ? beginWork(.turn, isTurn: true) : nil
    }

    /// Waits for whoever is at work, without asking for anything.
    mutating func join() -> Bool {
        guard work != nil else { return false }
        waiting += 1
        return true
    }

    /// Ends the user's own work, where it ends without a token.
    mutating func endTurn(_ id: Int) {
        if work?.id == id { endWork() }
    }

    /// Forgets all there is.
    ///
    /// - Returns: What there was: an access token, and a refresh token.
    mutating func signOut() -> (access: Secret?, refresh: Secret?) {
        var token: OAuth2.Token?
        if case .token(let held) = holding { token = held.credential.token }
        defer {
            holding = .nothing
            seed = nil
        }
        return (token?.access, token?.refresh ?? seed)
    }

    func isWorking(_ id: Int) -> Bool { work?.id == id }

    mutating func beginWork(_ stage: Work.Stage, isTurn: Bool) -> Int {
        lastWork += 1
        work = Work(id: lastWork, stage: stage, isTurn: isTurn)
        return lastWork
    }

    private mutating func endWork() {
        work = nil
        waiting = 0
    }

    mutating func finish(_ outcome: Outcome) -> Step {
        endWork()
        if case .admitted = outcome { lastFailure = nil }
        return .finish(outcome)
    }

    /// Ends the work; well, if what was to be replaced is still good.
    mutating func fail(_ error: OAuth2Error, at date: Date) -> Step {
        let isTurn = work?.isTurn ?? false
        if !isTurn, case .token(let held) = holding, !held.isRefused, !held.isUnsaved,
            !held.credential.token.isExpired(at: date)
        {
            endWork()
            lastFailure = error
            return .finish(.admitted(held.credential))
        }
        if error.code != .tooManyRefreshes, !isTurn { lastFailure = error }
        return finish(.failed(error))
    }

    /// Takes a token in the place of the one there is.
    mutating func hold(_ token: OAuth2.Token, isRefused: Bool, isUnsaved: Bool, at date: Date) -> Credential {
        version += 1
        let credential = Credential(token, version: version, margin: rules.margin, at: date)
        holding = .token(Held(credential: credential, isRefused: isRefused, isUnsaved: isUnsaved))
        return credential
    }
}
