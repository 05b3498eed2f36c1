// Access to a jar's cookies. Each change is atomic for concurrent requests.
extension CookieJar {
    /// The unexpired cookies, sorted by domain, path and name.
    public var cookies: [Cookie] {
        get async {
            await read()
            return await lines()?.map { ($0.key, $0.cookie) }.sorted { $0.0 < $1.0 }.map(\.1) ?? []
        }
    }

    /// Adds a cookie, or replaces the one with the same name, domain, path and ``Cookie/includesSubdomains``. An
    /// expired cookie removes the existing one.
    ///
    /// The domain may be a public suffix: that restriction applies to servers only.
    ///
    /// - Parameter cookie: The cookie.
    /// - Throws: ``SluiceError/Code/invalidHeader`` if the cookie has no name or domain, its path does not begin with a
    ///   slash, it contains a control character or a `;`, or it violates the rules of a `__Secure-` or `__Host-`
    ///   prefix.
    public func set(_ cookie: Cookie) async throws(SluiceError) {
        guard let line = CookieLine(cookie) else {
            throw SluiceError(
                .invalidHeader,
                """
                A cookie needs a name, a domain and a path from the root, without control characters or semicolons, \
                and must be as a __Secure- or __Host- in its name says.
                """,
                step: .building
            )
        }
        await read()
        await perform(.add([line]))
    }

    /// Removes all cookies.
    public func removeAll() async {
        await read()
        await perform(.removeAll)
    }

    /// Removes the cookies that satisfy a predicate.
    ///
    /// ```swift
    /// await jar.removeAll { $0.domain == "shop.example" }
    /// ```
    ///
    /// - Parameter shouldBeRemoved: Returns true for a cookie to remove.
    public func removeAll(where shouldBeRemoved: @Sendable (Cookie) throws -> Bool) async rethrows {
        await read()
        let ended = try await lines()?.filter { try shouldBeRemoved($0.cookie) }.map(\.ended) ?? []
        if !ended.isEmpty { await perform(.add(ended)) }
    }

    /// Reads the file, unless it has been read. Requests read it automatically. Cookies already in the jar are kept.
    ///
    /// After a failure this function tries again. Without a file it does nothing.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` if the file exists but cannot be read.
    public func load() async throws(SluiceError) {
        try await file?.read(for: self, isAgain: true).get()
    }

    /// Writes the file and returns when it is on disk. Without a file it does nothing.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` if the file cannot be written, or could not be read; it is then
    ///   unchanged.
    public func save() async throws(SluiceError) {
        guard let file else { return }
        try await file.read(for: self, isAgain: true).get()
        try await file.write(self).get()
    }

    /// True if requests need not wait for the file.
    package var isReady: Bool { file?.isSettled ?? true }

    /// Reads the file before the first request. A file that cannot be read does not fail the request.
    ///
    /// - Parameter limit: The time that the request may wait.
    /// - Throws: A time-out or cancellation error.
    package func prepare(within limit: Duration?) async throws(SluiceError) {
        if isReady { return }
        try await TimedWork.outcome(within: limit, else: .cookiesLate) { () async throws(SluiceError) in
            await self.read()
        }
    }

    private func read() async {
        if !isReady { _ = await file?.read(for: self, isAgain: false) }
    }

    private func lines() async -> [CookieLine]? {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            look { _, lines in
                fence.synchronize()
                continuation.resume(returning: lines)
            }
        }
    }
}

extension SluiceError {
    fileprivate static let cookiesLate = SluiceError(
        .timedOut,
        "The request took longer than allowed in all; the file of its cookies had not been read."
    )
}
