import SluiceFoundation
import SluiceHTTP

/// A value that has the modifiers of a request: ``APIRequest``, ``BodyRequest``, ``StreamRequest``,
/// ``DownloadAPIRequest`` or ``RequestDraft``.
///
/// Every modifier returns a changed copy. To add a modifier, extend this protocol:
///
/// ```swift
/// extension ModifiableRequest {
///     func tenant(_ id: String) -> Self { header("X-Tenant", id) }
/// }
/// ```
public protocol ModifiableRequest: Sendable {
    /// The description of the request, without its types.
    var draft: RequestDraft { get set }
}

extension ModifiableRequest {
    /// Returns the request with a changed draft. Consuming, so that a chain of modifiers copies no draft.
    @inline(__always)
    consuming func modified(_ change: (inout RequestDraft) -> Void) -> Self {
        change(&self.draft)
        return self
    }
}

// MARK: - Destination

extension ModifiableRequest {
    /// Replaces the client's base URL.
    public consuming func baseURL(_ url: String) -> Self { modified { $0.baseURL = url } }

    /// Replaces the host of the URL, for example by a content delivery network's. Path and query stay the same.
    ///
    /// - Parameter host: `cdn.example.com`, `[::1]:8080`, or with another scheme,
    ///   `http://cdn.example.com`; nil for the URL's own.
    /// - Returns: A copy with that host.
    public consuming func host(_ host: String?) -> Self { modified { $0.host = host } }

    /// Replaces the client's rule for combining base URL and path.
    public consuming func urlBuilder(_ builder: URLBuilder) -> Self { modified { $0.options.urlBuilder = builder } }

    /// Sets the stub that answers the request instead of the server.
    ///
    /// ```swift
    /// let request = client.codable.get("users/1", as: User.self).stub(.json(#"{"id":1}"#))
    /// ```
    ///
    /// - Parameters:
    ///   - stub: The stub; nil for the client's.
    ///   - mode: The rule by which the stub answers; nil for ``APIClient/Configuration/stubMode``, which is
    ///     ``StubMode/immediate`` by default.
    /// - Returns: A copy with that stub.
    public consuming func stub(_ stub: Stub?, mode: StubMode? = nil) -> Self {
        modified { draft in
            draft.options.stub = stub
            if let mode { draft.options.stubMode = mode }
        }
    }

    /// Replaces the client's rule by which stubs answer.
    public consuming func stubMode(_ mode: StubMode) -> Self { modified { $0.options.stubMode = mode } }

    /// Sets the networks that can carry the request. No effect on Linux.
    public consuming func networkAccess(_ access: NetworkAccess) -> Self {
        modified { $0.options.networkAccess = access }
    }
}

// MARK: - Path, query and parameters

extension ModifiableRequest {
    /// Sets the path, which is appended to the base URL or is a whole URL that replaces it. A fragment is removed.
    public consuming func path(_ path: String) -> Self { modified { $0.path = path } }

    /// Appends a query item. A nil value appends nothing.
    public consuming func query(_ name: String, _ value: String?) -> Self {
        guard let value else { return self }
        return modified { $0.add(.item(name: name, value: value)) }
    }

    /// Appends a query item with an integer.
    public consuming func query(_ name: String, _ value: some FixedWidthInteger) -> Self {
        modified { $0.add(.item(name: name, value: value.description)) }
    }

    /// Appends query items for an encodable value, as the client's encoder writes it: a boolean, a date, an array, an
    /// enum. A nil value appends nothing.
    @_disfavoredOverload
    public consuming func query(_ name: String, _ value: (any Encodable & Sendable)?) -> Self {
        guard let value else { return self }
        return query([name: value] as Parameters)
    }

    /// Appends a query item that has a name and no value.
    public consuming func query(_ name: String) -> Self {
        modified { $0.add(.item(name: name, value: nil)) }
    }

    /// Removes items from the query: those of the base URL, of the path, of a target and of earlier modifiers. Items that
    /// are added later stay.
    ///
    /// ```swift
    /// let second = client.data.request(Shop.search("tea")).withoutQuery("page").query("page", 2)
    /// ```
    ///
    /// - Parameter names: The names of the items, before percent-encoding. `tags` also removes `tags[]` and `tags[0]`.
    ///   Without a name, the whole query is removed. Parameters that are sent as the body stay.
    /// - Returns: A copy without those items.
    public consuming func withoutQuery(_ names: String...) -> Self {
        modified { $0.remove(names.isEmpty ? .all : .some(names)) }
    }

    /// Appends an encodable value to the query, for any method.
    ///
    /// ```swift
    /// .query(["page": 1, "tags": ["a", "b"], "name": name])  // nil is left out
    /// .query(filter, encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
    /// ```
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary. If encoding fails, the request fails with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A copy with the items appended.
    @_disfavoredOverload
    public consuming func query(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: value, encoder: encoder))) }
    }

    /// Appends names and values of any encodable types to the query, for any method.
    public consuming func query(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.add(.encoded(RequestParameters(value: parameters, encoder: encoder))) }
    }

    /// Adds parameters to the query or the body. They are added to the query of a GET, HEAD, DELETE, OPTIONS or TRACE
    /// request, and of any request that already has a body. For other requests, they are the body, of type
    /// `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary. If encoding fails, the request fails with
    ///     ``SluiceError/Code/encodingFailed`` when it is sent.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A copy with the parameters appended.
    @_disfavoredOverload
    public consuming func parameters(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self
    {
        modified { $0.options.parameters.append(RequestParameters(value: value, encoder: encoder)) }
    }

    /// Adds names and values of any encodable types to the query or the body, depending on the method and on the body.
    public consuming func parameters(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self {
        modified { $0.options.parameters.append(RequestParameters(value: parameters, encoder: encoder)) }
    }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(*, unavailable, message: "The types of the values are not known: pass \"try Parameters(any: values)\".")
    @_disfavoredOverload
    public func query(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> Self { self }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(*, unavailable, message: "The types of the values are not known: pass \"try Parameters(any: values)\".")
    @_disfavoredOverload
    public func parameters(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> Self { self }
}

// MARK: - Headers

extension ModifiableRequest {
    /// Sets a header, which replaces the client's header of the same name. Nil removes the request's own header.
    public consuming func header(_ name: HTTPHeaderName, _ value: String?) -> Self {
        modified { $0.headers[name] = value }
    }

    /// Sets several headers. Each replaces the request's and the client's header of the same name.
    public consuming func headers(_ headers: HTTPHeaders) -> Self {
        modified { draft in
            for field in headers { draft.headers.remove(field.name) }
            draft.headers.append(contentsOf: headers)
        }
    }

    /// Sets the `Content-Type`, which replaces the type of the body. A form keeps its own type, unless the new type is
    /// also multipart, to which the form's boundary is added.
    public consuming func contentType(_ type: String) -> Self { header(.contentType, type) }

    /// Sets the `Accept` header.
    public consuming func accept(_ types: String...) -> Self { header(.accept, types.joined(separator: ", ")) }

    /// Sets the `Authorization` header to a user name and password, in UTF-8 (RFC 7617).
    ///
    /// A user name with a colon, or a control character in one of the two, fails the request with
    /// ``SluiceError/Code/invalidHeader``. The password is a `String` or a ``Secret``.
    public consuming func basicAuthorization(_ user: String, _ password: some SecretConvertible) -> Self {
        let credentials = ChallengeCredentials(user: user, password: password, methods: .basic)
        do throws(SluiceError) {
            try credentials.validate()
        } catch {
            return modified { $0.options.failure = error.with(step: .building) }
        }
        return header(.authorization, credentials.basic)
    }

    /// Sets the `Cache-Control` header, with which a request instructs caches (RFC 9111 §5.2.1).
    public consuming func cachePolicy(_ policy: CachePolicy) -> Self { header("Cache-Control", policy.directives) }
}

// MARK: - Limits, validation and other rules

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

    /// Sets the time from the call to the last byte, with gates, all attempts, pauses and redirects included.
    public consuming func timeout(_ total: Duration) -> Self { timeout(total: total) }

    /// Unavailable: the number has no unit.
    @available(*, unavailable, message: "Give the time-out a unit: \"timeout(.seconds(5))\".")
    public func timeout(_ seconds: Double) -> Self { self }

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

    /// Replaces all limits on the response. `ResponseLimits()` has no limit on the body; the client's default is
    /// 64 MiB.
    public consuming func limits(_ limits: ResponseLimits) -> Self {
        modified { $0.options.limits.replace(with: limits) }
    }

    /// Sets the rules for successful responses, which replace the client's.
    public consuming func validate(_ validation: Validation) -> Self {
        modified { $0.options.validation.replace(by: validation) }
    }

    /// Accepts only these statuses. The other rules still apply.
    public consuming func validate(statuses first: Range<Int>, _ others: Range<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = [first] + others } }
    }

    /// Accepts only these statuses. The other rules still apply.
    public consuming func validate(statuses first: ClosedRange<Int>, _ others: ClosedRange<Int>...) -> Self {
        modified { $0.options.validation.change { $0.statuses = ([first] + others).map(Range.init(statuses:)) } }
    }

    /// Accepts only these statuses: `validate(statuses: .ok, .notFound)`. The other rules still apply.
    public consuming func validate(statuses first: HTTPStatus, _ others: HTTPStatus...) -> Self {
        let ranges = ([first] + others).map { Range(statuses: $0.rawValue...$0.rawValue) }
        return modified { $0.options.validation.change { $0.statuses = ranges } }
    }

    /// Unavailable: the range has no end.
    @available(*, unavailable, message: "Say the last status: \"validate(statuses: 200...599)\".")
    public consuming func validate(statuses: PartialRangeFrom<Int>) -> Self { self }

    /// Accepts only these content types, such as `application/json` or `text/*`. The other rules still apply.
    public consuming func validate(contentTypes first: String, _ others: String...) -> Self {
        modified { $0.options.validation.change { $0.contentTypes = [first] + others } }
    }

    /// Adds a custom rule. An error it throws fails the request with ``SluiceError/Code/validationFailed``.
    public consuming func validate(_ rule: @escaping Validation.Rule) -> Self {
        modified { $0.options.validation.change { $0.rules.append(rule) } }
    }

    /// Enables or disables the client's cookie jar for the request.
    public consuming func cookies(_ usesCookies: Bool) -> Self { modified { $0.options.usesCookies = usesCookies } }

    /// Sets the redirects that are followed, which replaces the client's policy.
    public consuming func redirects(_ policy: RedirectPolicy) -> Self { modified { $0.options.redirects = policy } }

    /// Sets the credentials that answer a challenge from the request's own origin, which
    /// replace the client's; nil for none.
    public consuming func credentials(_ credentials: ChallengeCredentials?) -> Self {
        modified { $0.options.credentials = .some(credentials) }
    }

    /// Adds tags, by which gates and interceptors distinguish requests.
    public consuming func tags(_ tags: String...) -> Self { modified { $0.tags.formUnion(tags) } }

    /// Sets a value of the request's own, which gates, interceptors, plugins and observers can read. It is not sent.
    /// Requests with other values, or with values that are not `Hashable`, share no transfer: ``RequestSharing``.
    ///
    /// ```swift
    /// let user = shop.codable.get("users/1", as: User.self).userInfo("screen", Screen.profile)
    /// // In a plugin: context.userInfo["screen"] as? Screen
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - value: The value; nil removes the key.
    /// - Returns: A copy with that value.
    public consuming func userInfo(_ key: String, _ value: (any Sendable)?) -> Self {
        modified { $0.options.userInfo[key] = value }
    }

    /// Sets a name that similar requests share in metrics and logs, such as `users/{id}`.
    ///
    /// The default is the text of a ``URITemplate``. For any other path, it is the path without
    /// the parts that look like an ID.
    public consuming func route(_ route: String) -> Self { modified { $0.route = route } }
}

// MARK: - Steps

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
        modified {
            $0.options.steps.observers.append(ObserverMailbox(observer, sharing: ObserverMailbox.ofRequests))
        }
    }

    /// Sends the request without asking gates and constraints.
    public consuming func withoutGates() -> Self { modified { $0.options.steps.skipsAllGates = true } }

    /// Sends the request without asking the gates of these types: `withoutGate(OAuth2.self)`.
    public consuming func withoutGate(_ types: any Gate.Type...) -> Self {
        modified { $0.options.steps.skippedTypes.formUnion(types.map { ObjectIdentifier($0) }) }
    }

    /// Sends the request without asking the constraints of these types: `withoutGate(SignedIn.self)`.
    public consuming func withoutGate(_ types: any Constraint.Type...) -> Self {
        modified { $0.options.steps.skippedTypes.formUnion(types.map { ObjectIdentifier($0) }) }
    }

    /// Sends the request without asking the gates and constraints of these names, where several have one type. By
    /// default, their names are those of their types.
    public consuming func withoutGate(named names: String...) -> Self {
        modified { $0.options.steps.skippedGates.formUnion(names) }
    }

    /// Unavailable: a gate is skipped by its type, or by its name.
    @available(*, unavailable, message: "Write \"withoutGate(OAuth2.self)\", or \"withoutGate(named: \"limit\")\".")
    public consuming func withoutGate(_ names: String...) -> Self { self }

    /// Sets the rules for sending the request again, which replace the client's.
    public consuming func retry(_ policy: RetryPolicy) -> Self { modified { $0.options.retry = policy } }

    /// Sets the rules for sending the request a second time if it is slow, which replace the client's.
    public consuming func hedged(_ policy: HedgingPolicy) -> Self { modified { $0.options.hedging = policy } }

    /// Declares the request idempotent or not, whatever its method. An idempotent request may be retried. With `false` the
    /// request is neither retried nor hedged, nor sent again after the loss of a reused connection, unless the server
    /// cannot have processed it.
    public consuming func idempotent(_ isIdempotent: Bool = true) -> Self {
        modified { $0.options.isIdempotent = isIdempotent }
    }
}

// MARK: - Transfer

extension ModifiableRequest {
    /// Sets the priority of the request where requests wait for each other: for a slot of
    /// ``APIClient/Configuration/transport``, and for their share of an HTTP/2 connection.
    public consuming func priority(_ priority: RequestPriority) -> Self { modified { $0.options.priority = priority } }

    /// Asks the server to accept the request before the body is sent, by `Expect: 100-continue` (RFC 9110 §10.1.1).
    ///
    /// A server can refuse, with 401, 403 or 413 for example, before the body is sent. If it does not answer within the
    /// wait, the body is sent. If it answers 417, the request is sent again without the expectation. Over HTTP/2, and
    /// for a request without a body, the expectation is omitted.
    ///
    /// - Parameter wait: The time to wait for an answer; nil for ``Timeouts/continueWait``,
    ///   which is 1 second by default.
    /// - Returns: A copy with the expectation.
    public consuming func expectsContinue(waiting wait: Duration? = nil) -> Self {
        modified { draft in
            draft.headers[.expect] = "100-continue"
            if let wait { draft.options.timeouts.change { $0.continueWait = wait } }
        }
    }
}

// MARK: - Model

extension ModifiableRequest {
    /// Decodes the model from a part of the JSON body: `data.items[0]`, `data>items>0`.
    ///
    /// A path that does not exist fails the request with ``SluiceError/Code/decodingFailed``. The error says which part
    /// of the path was found. With an ``Envelope``, the path starts in its payload. The body must be valid JSON in UTF-8,
    /// also if the decoder accepts more. The lines and events of a stream are decoded as a whole.
    public consuming func keyPath(_ path: JSONPath) -> Self { modified { $0.options.modelLocation.keyPath = path } }

    /// Accepts an empty body for a JSON model, which is then decoded from `null`, `{}` or `[]`. By default, an empty
    /// body fails a request for JSON. Text and bytes may always be empty.
    public consuming func allowingEmptyBody() -> Self { modified { $0.options.modelLocation.allowsEmptyBody = true } }

    /// Replaces the client's envelope; nil for none.
    public consuming func envelope(_ envelope: Envelope?) -> Self {
        modified { $0.options.modelLocation.envelope = envelope.map(ModelLocation.EnvelopeRule.request) ?? .none }
    }
}

// MARK: - Cache policy

/// The instructions of a request for caches (RFC 9111 §5.2.1).
public struct CachePolicy: Sendable, Hashable {
    /// The value of `Cache-Control`; nil for none.
    public let directives: String?

    /// Creates a policy from directives.
    public init(directives: String?) {
        self.directives = directives
    }

    /// No instructions.
    public static let standard = CachePolicy(directives: nil)
    /// Caches must revalidate a stored response with the origin server.
    public static let reload = CachePolicy(directives: "no-cache")
    /// Caches must not store the request or the response.
    public static let noStore = CachePolicy(directives: "no-store")
    /// Caches answer with a stored response or with status 504. A request that no cache handles is sent: that of a client
    /// without a cache, a download, an unsafe request, and one with a body.
    public static let onlyIfCached = CachePolicy(directives: "only-if-cached")
}

// MARK: - Caching

extension ModifiableRequest {
    /// Sets the source of the response: the server or a stored response to an earlier request.
    ///
    /// ```swift
    /// let feed = client.get("feed", as: [Post].self).dataSource(.cacheElseServer, expiration: .days(1))
    /// ```
    ///
    /// - Parameters:
    ///   - source: The data source.
    ///   - key: The rule for the cache key; nil for the client's rule.
    ///   - expiration: The expiration of the stored response; nil for the client's.
    ///   - tags: Tags by which stored responses can be removed together, in addition to the client's.
    ///   - inMemoryOnly: True to store the response in memory only; nil for the client's rule.
    /// - Returns: A copy with that source.
    public consuming func dataSource(
        _ source: DataSource,
        key: CacheKeyRule? = nil,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = [],
        inMemoryOnly: Bool? = nil
    ) -> Self {
        caching { caching in
            caching.source = source
            if let key { caching.key = key }
            if let expiration { caching.expiration = expiration }
            caching.tags.formUnion(tags)
            if let inMemoryOnly { caching.storesInMemoryOnly = inMemoryOnly }
        }
    }

    /// Sets the cache partition, such as a user's ID. Requests of one partition never use the entries of another.
    public consuming func cachePartition(_ partition: String) -> Self { caching { $0.partition = partition } }

    /// Sets the options of the HTTP cache (RFC 9111); nil to disable it.
    public consuming func httpCaching(_ http: HTTPCaching?) -> Self { caching { $0.http = http } }

    /// Changes the caching options of the request.
    public consuming func caching(_ change: @escaping @Sendable (inout Caching) -> Void) -> Self {
        modified { $0.options.caching.change(change) }
    }
}
