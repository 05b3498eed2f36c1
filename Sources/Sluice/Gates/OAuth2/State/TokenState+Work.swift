import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The transitions at the end of each step. Work that was cancelled or replaced gets ``Step/stop``.
extension TokenState {
    /// True if a new token can be obtained without the user.
    var canRenew: Bool { rules.isRepeatable || seed != nil || refreshToken != nil }

    private var held: Held? {
        if case .token(let held) = holding { held } else { nil }
    }

    private var refreshToken: Secret? {
        rules.usesRefreshTokens ? held?.credential.token.refresh : nil
    }

    /// Returns the next step, given the token and the store.
    mutating func next(at moment: Moment, cause: OAuth2Error? = nil) -> Step {
        if case .unknown = holding {
            work?.stage = .loading
            return .load
        }
        if let held, held.isUnsaved {
            work?.stage = .saving
            return .save(held.credential.token)
        }
        if let credential = credential(at: moment.date) { return finish(.admitted(credential)) }
        guard canRenew else {
            let detail = cause == nil ? nil : "the refresh token is no longer good"
            return fail(OAuth2Error(.authorizationRequired, detail, underlyingError: cause), at: moment.date)
        }
        guard window.isOpen(at: moment.now) else {
            let limit = "\(rules.limit.count) times in \(rules.limit.interval)"
            return fail(OAuth2Error(.tooManyRefreshes, limit, underlyingError: lastFailure), at: moment.date)
        }
        window.add(moment.now)
        if let token = refreshToken ?? seed {
            work?.stage = .refreshing(token)
            return .refresh(token)
        }
        work?.stage = .requesting
        return .request
    }

    /// Handles the result of reading the store.
    mutating func loaded(_ result: Result<OAuth2.Token?, OAuth2Error>, work id: Int, at moment: Moment) -> Step {
        guard isWorking(id) else { return .stop }
        switch result {
        case .failure(let error):
            return fail(error, at: moment.date)
        case .success(let token):
            holding = .nothing
            if let token { _ = hold(token, isRefused: false, isUnsaved: false, at: moment.date) }
            return next(at: moment)
        }
    }

    /// Handles the result of a request for a token.
    mutating func received(_ result: Result<OAuth2.Token, OAuth2Error>, work id: Int, at moment: Moment) -> Step {
        guard isWorking(id), let stage = work?.stage else { return .stop }
        switch result {
        case .failure(let error):
            guard case .refreshing(let token) = stage, error.code == .invalidGrant else {
                return fail(error, at: moment.date)
            }
            drop(refreshToken: token)
            work?.stage = .forgetting
            work?.cause = error
            return .forget
        case .success(var token):
            let previous = held
            if case .refreshing(let used) = stage {
                // Without a new refresh token in the response, the old one stays valid (RFC 6749 §6).
                token.refreshToken = token.refreshToken ?? used.reveal()
                token.scope = token.scope ?? previous?.credential.token.scope
                if seed == used { seed = nil }
            }
            token.scope = token.scope ?? rules.scope
            let isRefused = previous.map { $0.isRefused && $0.credential.token.accessToken == token.accessToken }
            _ = hold(token, isRefused: isRefused ?? false, isUnsaved: true, at: moment.date)
            work?.hasReceived = true
            work?.stage = .saving
            return .save(token)
        }
    }

    /// Handles the result of saving the token.
    mutating func saved(_ result: Result<Void, OAuth2Error>, work id: Int, at moment: Moment) -> Step {
        guard isWorking(id), var held, let work else { return .stop }
        switch result {
        case .failure(let error):
            return fail(error, at: moment.date)
        case .success:
            held.isUnsaved = false
            holding = .token(held)
            guard work.hasReceived else { return next(at: moment) }
            // The token's age is not checked against the refresh margin again, which could
            // loop for a short-lived token.
            if held.isRefused { return fail(OAuth2Error(.refusedToken), at: moment.date) }
            if held.credential.token.isExpired(at: moment.date) {
                return fail(OAuth2Error(.expiredToken), at: moment.date)
            }
            if work.isTurn { window.removeAll() }
            return finish(.admitted(held.credential))
        }
    }

    /// Handles the deletion of a refresh token that the server refused.
    mutating func forgot(work id: Int, at moment: Moment) -> Step {
        guard isWorking(id) else { return .stop }
        return next(at: moment, cause: work?.cause)
    }

    private mutating func drop(refreshToken token: Secret) {
        if seed == token { seed = nil }
        guard var held, held.credential.token.refresh == token else { return }
        held.credential = held.credential.withoutRefreshToken
        holding = .token(held)
    }
}
