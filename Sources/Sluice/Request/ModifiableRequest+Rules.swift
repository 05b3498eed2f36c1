import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ModifiableRequest {
    /// Sets time-outs. Those that are omitted keep their values.
    ///
    /// - Parameters:
    ///   - total: The time from the call to the last byte, with gates, all attempts, pauses and redirects included.
    ///   - connect: The time until the connection is established.
    ///   - idle: The time without a byte in either direction.
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

    /// Sets all time-outs at once. A nil value in them means no time-out.
    public consuming func timeouts(_ timeouts: Timeouts) -> Self {
        modified { $0.options.timeouts.replace(with: timeouts) }
    }

    /// Sets the time by which the request must be complete, each time it is sent. After that time it fails with
    /// ``SluiceError/Code/timedOut``. It is not sent if the time has already passed.
    ///
    /// A deadline suits requests that must be complete together, such as the pages of a listing.
    /// ``Deadline/withDeadline(_:on:isolation:_:)`` sets it for all requests of a task. The earliest of these and
    /// ``timeout(total:connect:idle:)`` applies.
    public consuming func deadline(_ deadline: Deadline?) -> Self { modified { $0.options.deadline = deadline } }

    /// Sets the limits on the response.
    public consuming func limits(_ limits: ResponseLimits) -> Self {
        modified { $0.options.limits.replace(with: limits) }
    }

    /// Sets the rules for successful responses, which replace the client's.
    public consuming func validate(_ validation: Validation) -> Self {
        modified { $0.options.validation.replace(with: validation) }
    }

    /// Accepts only these statuses. The other rules still apply.
    public consuming func validate(statuses: Range<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = statuses } }
    }

    /// Accepts only these statuses. The other rules still apply.
    public consuming func validate(statuses: ClosedRange<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = statuses.map(Range.init) } }
    }

    /// Accepts only these content types, such as `application/json` or `text/*`. The other rules still apply.
    public consuming func validate(contentTypes: String...) -> Self {
        modified { $0.options.validation.change { $0.contentTypes = contentTypes } }
    }

    /// Adds a custom rule. An error it throws fails the request with ``SluiceError/Code/validationFailed``.
    public consuming func validate(_ rule: @escaping Validation.Rule) -> Self {
        modified { $0.options.validation.change { $0.rules.append(rule) } }
    }

    /// Enables or disables the client's cookie store for the request.
    public consuming func cookies(_ usesCookies: Bool) -> Self { modified { $0.usesCookies = usesCookies } }

    /// Sets the redirects that are followed, which replaces the client's policy.
    public consuming func redirects(_ policy: RedirectPolicy) -> Self { modified { $0.options.redirects = policy } }

    /// Sets the credentials that answer a challenge from the request's own origin, which
    /// replace the client's; nil for none.
    public consuming func credentials(_ credentials: ChallengeCredentials?) -> Self {
        modified { $0.options.credentials = .some(credentials) }
    }

    /// Adds tags, by which gates and interceptors distinguish requests.
    public consuming func tags(_ tags: String...) -> Self { modified { $0.tags.formUnion(tags) } }

    /// Sets a name that similar requests share in metrics and logs, such as `users/{id}`.
    ///
    /// The default is the text of a ``URITemplate``. For any other path, it is the path without
    /// the parts that look like an ID.
    public consuming func route(_ route: String) -> Self { modified { $0.route = route } }
}
