import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ModifiableRequest {
    /// Sets time-outs; what is left out keeps its value.
    ///
    /// - Parameters:
    ///   - total: From the call to the last byte: gates, all attempts, the pauses between them and redirects included.
    ///   - connect: Until the connection stands.
    ///   - idle: Without a byte in either direction.
    /// - Returns: A copy with those time-outs.
    public consuming func timeout(total: Duration? = nil, connect: Duration? = nil, idle: Duration? = nil) -> Self {
        modified { draft in
            draft.options.timeouts.change { timeouts in
                if let total { timeouts.total = total }
                if let connect { timeouts.connect = connect }
                if let idle { timeouts.idle = idle }
            }
        }
    }

    /// Sets all time-outs at once; nil in one of them stands for none.
    public consuming func timeouts(_ timeouts: Timeouts) -> Self {
        modified { $0.options.timeouts.replace(with: timeouts) }
    }

    /// Sets the moment by which all of it must be over, each time that it is sent: the request fails with
    /// ``SluiceError/Code/timedOut`` then, and is not sent if it has passed.
    ///
    /// For requests that must be over together, the pages of a listing for example; ``Deadline/withDeadline(_:on:isolation:_:)`` sets
    /// it for all that a task sends. The earliest of these and ``timeout(total:connect:idle:)`` holds.
    public consuming func deadline(_ deadline: Deadline?) -> Self { modified { $0.options.deadline = deadline } }

    /// Sets the limits on the response.
    public consuming func limits(_ limits: ResponseLimits) -> Self {
        modified { $0.options.limits.replace(with: limits) }
    }

    /// Sets which responses are successes, in place of the client's rules.
    public consuming func validate(_ validation: Validation) -> Self {
        modified { $0.options.validation.replace(with: validation) }
    }

    /// Accepts these statuses only, and whatever else the rules so far ask for.
    public consuming func validate(statuses: Range<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = statuses } }
    }

    /// Accepts these statuses only, and whatever else the rules so far ask for.
    public consuming func validate(statuses: ClosedRange<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = statuses.map(Range.init) } }
    }

    /// Accepts these content types only, `application/json` or `text/*`, and whatever else the rules so far ask for.
    public consuming func validate(contentTypes: String...) -> Self {
        modified { $0.options.validation.change { $0.contentTypes = contentTypes } }
    }

    /// Asks a rule of one's own besides those so far; what it throws fails the request with
    /// ``SluiceError/Code/validationFailed``.
    public consuming func validate(_ rule: @escaping Validation.Rule) -> Self {
        modified { $0.options.validation.change { $0.rules.append(rule) } }
    }

    /// Sets whether the request takes part in the client's cookies, where it keeps any.
    public consuming func cookies(_ usesCookies: Bool) -> Self { modified { $0.usesCookies = usesCookies } }

    /// Sets which redirects are followed, in place of the client's policy.
    public consuming func redirects(_ policy: RedirectPolicy) -> Self { modified { $0.options.redirects = policy } }

    /// Sets what a challenge of the request's own origin is answered with, in place of the client's credentials; nil for nothing.
    public consuming func credentials(_ credentials: ChallengeCredentials?) -> Self {
        modified { $0.options.credentials = .some(credentials) }
    }

    /// Adds words by which gates and interceptors tell requests apart.
    public consuming func tags(_ tags: String...) -> Self { modified { $0.tags.formUnion(tags) } }

    /// Names what requests of its kind have in common, `users/{id}`, for metrics and logs.
    ///
    /// Without it a ``URITemplate`` names itself, and of any other path what looks like an ID is left out.
    public consuming func route(_ route: String) -> Self { modified { $0.route = route } }
}
