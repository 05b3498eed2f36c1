import SluiceHTTP

extension ModifiableRequest {
    /// Adds a request interceptor after the client's.
    public consuming func intercept(_ interceptor: any RequestInterceptor) -> Self {
        modified { $0.options.steps.requestInterceptors.append(interceptor) }
    }

    /// Adds a response interceptor after the client's.
    public consuming func intercept(response interceptor: any ResponseInterceptor) -> Self {
        modified { $0.options.steps.responseInterceptors.append(interceptor) }
    }

    /// Adds a plugin after the client's.
    public consuming func plugin(_ plugin: any Plugin) -> Self {
        modified { $0.options.steps.plugins.append(plugin) }
    }

    /// Adds an observer of this request.
    public consuming func observer(_ observer: any RequestObserver) -> Self {
        modified { $0.options.steps.observers.append(ObserverMailbox(observer)) }
    }

    /// Sends the request without asking gates and constraints.
    public consuming func withoutGates() -> Self { modified { $0.options.steps.skipsAllGates = true } }

    /// Sends the request without asking the gates and constraints of these names. By default, their names are
    /// those of their types: `"OAuth2"`.
    public consuming func withoutGate(_ names: String...) -> Self {
        modified { $0.options.steps.skippedGates.formUnion(names) }
    }

    /// Sets the rules for sending the request again, which replace the client's.
    public consuming func retry(_ policy: RetryPolicy) -> Self { modified { $0.options.retry = policy } }

    /// Sets the rules for sending the request a second time if it is slow, which replace the client's.
    public consuming func hedged(_ policy: HedgingPolicy) -> Self { modified { $0.options.hedging = policy } }

    /// Declares the request idempotent or not, whatever its method. An idempotent request may be retried.
    public consuming func idempotent(_ isIdempotent: Bool = true) -> Self {
        modified { $0.options.isIdempotent = isIdempotent }
    }
}
