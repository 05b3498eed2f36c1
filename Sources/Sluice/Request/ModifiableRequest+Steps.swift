import SluiceHTTP

extension ModifiableRequest {
    /// Adds a request interceptor behind the client's.
    public consuming func intercept(_ interceptor: any RequestInterceptor) -> Self {
        modified { $0.options.steps.requestInterceptors.append(interceptor) }
    }

    /// Adds a response interceptor behind the client's.
    public consuming func intercept(response interceptor: any ResponseInterceptor) -> Self {
        modified { $0.options.steps.responseInterceptors.append(interceptor) }
    }

    /// Adds a plugin behind the client's.
    public consuming func plugin(_ plugin: any Plugin) -> Self {
        modified { $0.options.steps.plugins.append(plugin) }
    }

    /// Adds an observer of this request.
    public consuming func observer(_ observer: any RequestObserver) -> Self {
        modified { $0.options.steps.observers.append(ObserverMailbox(observer)) }
    }

    /// Sends the request without asking any gate or constraint.
    public consuming func withoutGates() -> Self { modified { $0.options.steps.skipsAllGates = true } }

    /// Sends the request without asking the gates and constraints of these names, by default the names of their types:
    /// `"OAuth2"`.
    public consuming func withoutGate(_ names: String...) -> Self {
        modified { $0.options.steps.skippedGates.formUnion(names) }
    }

    /// Sets whether and when the request is sent again, in place of the client's policy.
    public consuming func retry(_ policy: RetryPolicy) -> Self { modified { $0.options.retry = policy } }

    /// Sets when the request is sent a second time because it is slow to be answered, in place of the client's policy.
    public consuming func hedged(_ policy: HedgingPolicy) -> Self { modified { $0.options.hedging = policy } }

    /// Says whether sending the request twice has the effect of sending it once, whatever its method, so that it may be retried.
    public consuming func idempotent(_ isIdempotent: Bool = true) -> Self {
        modified { $0.options.isIdempotent = isIdempotent }
    }
}
