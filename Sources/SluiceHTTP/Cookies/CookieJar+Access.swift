// The part of a jar that a program can see and change; a request sees the jar before or after a change.
extension CookieJar {
    /// The cookies that have not ended, in the order of their domains, paths and names.
    public var cookies: [Cookie] {
        get async {
            await read()
            return await lines()?.map { ($0.key, $0.cookie) }.sorted { $0.0 < $1.0 }.map(\.1) ?? []
        }
    }

    /// Adds a cookie, or replaces the one of the same name, domain, path and ``Cookie/includesSubdomains``; one that has ended removes it.
    ///
    /// Its domain may be a public suffix: that rule protects from servers, not from the program.
    ///
    /// - Parameter cookie: The cookie.
    /// - Throws: ``SluiceError/Code/invalidHeader`` for one that has no name or domain, no path that begins with a slash, holds a control
    ///   character or a `;`, or is not as `__Secure-` or `__Host-` in its name says.
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

    /// Removes some of the cookies.
    ///
    /// ```swift
    /// await jar.removeAll { $0.domain == "shop.example" }
    /// ```
    ///
    /// - Parameter shouldBeRemoved: Whether a cookie goes.
    public func removeAll(where shouldBeRemoved: @Sendable (Cookie) throws -> Bool) async rethrows {
        await read()
        let ended = try await lines()?.filter { try shouldBeRemoved($0.cookie) }.map(\.ended) ?? []
        if !ended.isEmpty { await perform(.add(ended)) }
    }

    /// Reads the file, unless it has been read; requests do so by themselves. What is in the jar already stays as it is.
    ///
    /// After a failure it is read anew. Without a file there is nothing to do.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` for a file that is there and cannot be read.
    public func load() async throws(SluiceError) {
        try await file?.read(for: self, isAgain: true).get()
    }

    /// Writes the file now, and returns when it is on the disk. Without a file there is nothing to do.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` for a file that cannot be written, or could not be read: it is then as it was.
    public func save() async throws(SluiceError) {
        guard let file else { return }
        try await file.read(for: self, isAgain: true).get()
        try await file.write(self).get()
    }

    /// Whether the file need not be waited for.
    package var isReady: Bool { file?.isSettled ?? true }

    /// Reads the file before the first request; the request goes on if it cannot be read.
    ///
    /// - Parameter limit: How long the request may wait.
    /// - Throws: A time-out or a cancellation.
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
