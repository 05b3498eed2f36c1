import SluiceFoundation
import SluiceHTTP

extension CacheRules {
    /// Returns the handling of a response.
    ///
    /// - Parameters:
    ///   - head: The response head.
    ///   - forwarding: The forwarded request.
    ///   - requested: The time at which the request was sent.
    ///   - received: The time at which the head was received.
    /// - Returns: The answer to the caller and the changes to the store.
    package func update(
        for head: HTTPResponse,
        to forwarding: ConditionalRequest,
        requested: Date,
        received: Date
    ) -> CacheUpdate {
        var update = self.update(for: head, to: forwarding, Times(requested: requested, received: received))
        if RequestDirectives(forwarding.request.headers).isNoStore {
            // Stored responses remain unchanged (RFC 9111 §5.2.1.5).
            update.storing = []
            update.removing = []
        }
        update.limitVariants(of: forwarding.stored)
        return update
    }

    private func update(for head: HTTPResponse, to forwarding: ConditionalRequest, _ times: Times) -> CacheUpdate {
        guard forwarding.concernsCache else {
            var update = CacheUpdate(answer: .response(marked(head, forwarding, isStored: false)))
            update.invalidating = Self.invalidations(after: head, to: forwarding.sent)
            return update
        }
        switch head.status {
        case .notModified: return validationUpdate(by: head, to: forwarding, times)
        case .partialContent: return partialContentUpdate(for: head, to: forwarding, times)
        case 412 where forwarding.purpose == .completion, 416 where forwarding.purpose == .completion:
            return CacheUpdate(answer: .again(unconditional(forwarding)))
        case let status where status.isServerFailure:
            if let serving = servableResponse(insteadOf: status, for: forwarding, now: times.received) {
                return CacheUpdate(answer: .stored(serving))
            }
        default: break
        }
        if forwarding.request.method == .head { return headUpdate(by: head, to: forwarding, times) }
        return replacementUpdate(by: head, to: forwarding, times)
    }

    /// Returns the stored response to serve after a failure (RFC 9111 §4.2.4, RFC 5861 §4).
    ///
    /// - Parameters:
    ///   - status: The status of the failed response; nil if no response was received or the request could not be
    ///     sent.
    ///   - forwarding: The forwarded request.
    ///   - now: The current time.
    /// - Returns: The stored response; nil if the failure has to be reported.
    package func servableResponse(
        insteadOf status: HTTPStatus? = nil,
        for forwarding: ConditionalRequest,
        now: Date
    ) -> ServableResponse? {
        let parsed = ParsedRequest(forwarding.request)
        guard let entry = forwarding.selected, let metadata = mode.metadata(of: entry),
            let form = parsed.form(of: entry, metadata)
        else {
            return nil
        }
        let age = metadata.age(at: now)
        let lifetime = lifetime(of: metadata)
        let requestDirectives = parsed.directives
        if metadata.directives.isNoCache { return nil }
        // A stored error would hide the current one, and end its retries.
        if metadata.isError { return nil }
        if requestDirectives.staleIfError == nil,
            !requestDirectives.accepts(age: age, lifetime: lifetime, isImmutable: metadata.directives.isImmutable)
        {
            return nil
        }
        if lifetime <= age {
            let window = requestDirectives.staleIfError ?? staleIfError(of: metadata)
            guard let window, age - lifetime <= window, age < DeltaSeconds.limit,
                !mode.mustRevalidate(metadata.directives)
            else {
                return nil
            }
        }
        let cacheStatus = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: status)
        return servable(Candidate(entry: entry, metadata: metadata, form: form), age, lifetime, cacheStatus)
    }

    /// Handles a response that is neither a 304 nor a 206: stores it, or at least removes the stored responses that it
    /// replaces.
    private func replacementUpdate(
        by head: HTTPResponse,
        to forwarding: ConditionalRequest,
        _ times: Times
    ) -> CacheUpdate {
        let storing = storing(head, for: forwarding, times)
        var update = CacheUpdate(answer: .response(marked(head, forwarding, isStored: storing != nil)))
        if let storing { update.storing = [storing] }
        if storing != nil || head.status.replacesStored {
            update.removing = forwarding.matching.map(\.variant).filter { $0 != storing?.variant }
        }
        return update
    }

    /// Handles a response to HEAD, which updates or invalidates the stored GET responses (RFC 9111 §4.3.5).
    private func headUpdate(by head: HTTPResponse, to forwarding: ConditionalRequest, _ times: Times) -> CacheUpdate {
        var update = CacheUpdate(answer: .response(marked(head, forwarding, isStored: false)))
        if head.status.replacesStored, head.status != .ok {
            update.removing = forwarding.matching.map(\.variant)
        }
        guard head.status == .ok else { return update }
        for entry in forwarding.matching {
            guard let stored = entry.response, let isSame = stored.isSame(as: head, entry) else { continue }
            let storing = isSame ? updated(entry, stored, with: head, for: forwarding, times).storing : nil
            update.add(storing, inPlaceOf: entry)
        }
        return update
    }

    /// Returns the head with a `Cache-Status` field added.
    func marked(_ head: HTTPResponse, _ forwarding: ConditionalRequest, isStored: Bool) -> HTTPResponse {
        var marked = head
        var status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
        status.isStored = isStored
        marked.headers.append(.cacheStatus) { status.append(to: &$0) }
        return marked
    }

    /// Returns the request for the entire representation in place of one for the end that is missing. A combined body is
    /// held in memory, which a stream must not be.
    package func entire(_ forwarding: ConditionalRequest) -> ConditionalRequest {
        forwarding.purpose == .completion ? unconditional(forwarding) : forwarding
    }

    /// Returns the original request without the conditions that the cache added.
    func unconditional(_ forwarding: ConditionalRequest) -> ConditionalRequest {
        self.forwarding(
            forwarding.request,
            forwarding.identity,
            forwarding.reason,
            stored: forwarding.stored,
            matching: forwarding.matching
        )
    }
}

extension StoredResponse {
    /// Compares a HEAD response with the stored response (RFC 9111 §4.3.5). Returns true if every validator in the HEAD
    /// response and the length are the same; nil if the HEAD response has no validator.
    fileprivate func isSame(as newer: HTTPResponse, _ entry: CacheEntry) -> Bool? {
        guard head.status == .ok || head.status == .partialContent else { return false }
        var isSame: Bool?
        for name in [HTTPHeaderName.eTag, .lastModified] where newer.headers.contains(name) {
            if newer.headers.fieldValues(for: name) != head.headers.fieldValues(for: name) { return false }
            isSame = true
        }
        if let text = newer.headers[.contentLength], let length = Int64(text) {
            let storedLength =
                part?.total ?? head.headers[.contentLength].flatMap { Int64($0) }
                ?? (metadata.isEncoded ? nil : Int64(entry.body.count))
            if let storedLength, storedLength != length { return false }
        }
        return isSame
    }
}

// MARK: - Validating stored responses

extension CacheRules {
    /// Handles a 304: updates the stored responses that it identifies (RFC 9111 §4.3.3, §4.3.4).
    func validationUpdate(by head: HTTPResponse, to forwarding: ConditionalRequest, _ times: Times) -> CacheUpdate {
        var update = CacheUpdate(answer: .response(marked(head, forwarding, isStored: false)))
        var confirmed: CacheMetadata?
        for entry in identified(by: head, forwarding) {
            guard let stored = entry.response else { continue }
            var newer = head
            if let tag = stored.metadata.entityTag, tag.isWeak {
                newer.headers.replaceValues(of: .eTag, with: tag.fieldValue)
            }
            let (response, storing) = updated(entry, stored, with: newer, for: forwarding, times)
            update.add(storing, inPlaceOf: entry)
            if entry === forwarding.selected { confirmed = mode.metadata(of: response) }
        }
        switch forwarding.purpose {
        // The conditions of the request itself were met, so the caller gets the 304.
        case .response: break
        // The request for missing bytes has no condition that a 304 could answer.
        case .completion: update.answer = .again(unconditional(forwarding))
        case .validation:
            guard let entry = forwarding.selected, let response = confirmed,
                let form = ParsedRequest(forwarding.request).form(of: entry, response)
            else {
                update.answer = .again(unconditional(forwarding))
                break
            }
            let status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
            var serving = servable(
                Candidate(entry: entry, metadata: response, form: form),
                response.age(at: times.received),
                lifetime(of: response),
                status,
                isRevalidated: true
            )
            serving.receivedFields = head.headers.filter { field in
                (field.name == .setCookie || response.directives.privateFields.contains(field.name))
                    && !response.head.headers.contains(field.name)
            }
            update.answer = .stored(serving)
        }
        return update
    }

    /// Returns the stored responses that a 304 updates (RFC 9111 §4.3.4): with a strong validator, all that have it;
    /// with a weak validator, the newest that has it; with no validator, the one that was validated.
    ///
    /// RFC 9111 permits the last case only for stored responses without a validator. Many servers omit validators from
    /// a 304, though, and a 304 to a condition on one response cannot concern another. For the same reason, a strong
    /// tag confirms the equal weak tag that was validated; it remains weak. nginx sends such a tag with a 304 where it
    /// would have compressed the response.
    private func identified(by head: HTTPResponse, _ forwarding: ConditionalRequest) -> [CacheEntry] {
        if let tag = EntityTag(of: head) {
            let same = forwarding.matching.filter { entry in
                guard let storedTag = entry.response?.metadata.entityTag, storedTag.opaque == tag.opaque else {
                    return false
                }
                return tag.isWeak || !storedTag.isWeak
            }
            if same.isEmpty, forwarding.purpose == .validation, let selected = forwarding.selected,
                selected.response?.metadata.entityTag?.opaque == tag.opaque
            {
                return [selected]
            }
            return tag.isWeak ? preferred(same, forwarding) : same
        }
        if let modified = head.headers.fieldValues(for: .lastModified).first {
            let same = forwarding.matching.filter { entry in
                guard let stored = entry.response, let storedDate = stored.metadata.lastModified else { return false }
                if stored.head.headers.fieldValues(for: .lastModified) == [modified] { return true }
                // Strong validators are compared byte by byte (RFC 9110 §8.8.2.2, §13.1.5).
                return ResourceValidator(of: stored.head) == nil
                    && HTTPDate.parse(modified.text, now: stored.received) == storedDate
            }
            return preferred(same, forwarding)
        }
        guard forwarding.purpose == .validation, let selected = forwarding.selected else { return [] }
        return [selected]
    }

    /// Returns the validated response if it is among the entries, because it is the newest that satisfies the request;
    /// otherwise the newest.
    private func preferred(_ entries: [CacheEntry], _ forwarding: ConditionalRequest) -> [CacheEntry] {
        if let selected = forwarding.selected, forwarding.purpose == .validation,
            entries.contains(where: { $0 === selected })
        {
            return [selected]
        }
        return Array(entries.prefix(1))
    }
}

// MARK: - Storing responses

extension CacheRules {
    /// The times at which a request was sent and its response received.
    struct Times {
        let requested: Date
        let received: Date
    }

    /// Returns a received head in its stored form.
    func storable(_ head: HTTPResponse, _ times: Times) -> HTTPResponse {
        StoredHead.storable(head, received: times.received, targets: mode.targetedFields)
    }

    /// Returns a stored head updated with the fields of a newer one.
    func updated(_ stored: HTTPResponse, with newer: HTTPResponse, _ times: Times) -> HTTPResponse {
        StoredHead.updated(stored, with: newer, received: times.received, targets: mode.targetedFields)
    }

    /// Returns the complete response to store, with the received body (RFC 9111 §3); nil if it must not be stored.
    func storing(_ head: HTTPResponse, for forwarding: ConditionalRequest, _ times: Times) -> StorableResponse? {
        guard forwarding.request.method == .get, head.status.isStorable else { return nil }
        return storing(storable(head, times), for: forwarding, times, body: .received)
    }

    /// Returns the response to store with a head already in its stored form; nil if it must not be stored.
    ///
    /// A response that could never be reused is not stored: one without a freshness lifetime, a validator or permission
    /// to be served stale.
    func storing(
        _ head: HTTPResponse,
        for forwarding: ConditionalRequest,
        _ times: Times,
        part: StoredPart? = nil,
        body: CacheBody,
        receivedCount: Int64? = nil
    ) -> StorableResponse? {
        if RequestDirectives(forwarding.request.headers).isNoStore { return nil }
        let directives = mode.directives(of: head.headers)
        let isAuthorized = forwarding.identity.isAuthorized
        guard let omitted = mode.omittedFields(directives, head.headers, isAuthorized: isAuthorized) else { return nil }
        var head = head
        for name in omitted { head.headers.remove(name) }
        let response = StoredResponse(
            method: .get,
            url: forwarding.request.url,
            identity: mode.isForAnyone(directives) ? nil : forwarding.identity.digest,
            head: head,
            requested: times.requested,
            received: times.received,
            part: part
        )
        let metadata = mode.metadata(of: response)
        guard mayStore(head.status, metadata), isUseful(metadata, at: times.received),
            !metadata.vary.names(anyOf: forwarding.identity.hiddenFields),
            let variant = metadata.variant(of: forwarding.request)
        else { return nil }
        return StorableResponse(variant: variant, response: response, body: body, receivedCount: receivedCount)
    }

    /// True if the response allows itself to be stored (RFC 9111 §3, §5.2.2.3).
    private func mayStore(_ status: HTTPStatus, _ metadata: CacheMetadata) -> Bool {
        let directives = metadata.directives
        guard directives.permitStoring(status) else { return false }
        return directives.isPublic || directives.isPrivate || !directives.privateFields.isEmpty
            || mode.explicitLifetime(of: metadata) != nil || status.isHeuristicallyCacheable
    }

    /// True if the response can ever be reused: it is fresh, has a validator, or may be served stale.
    private func isUseful(_ metadata: CacheMetadata, at now: Date) -> Bool {
        let isFresh = lifetime(of: metadata) > metadata.age(at: now) && !metadata.directives.isNoCache
        if isFresh || metadata.entityTag != nil || metadata.lastModified != nil { return true }
        if metadata.directives.isNoCache || mode.mustRevalidate(metadata.directives) { return false }
        return [staleIfError(of: metadata), staleWhileRevalidate(of: metadata)].contains { ($0 ?? 0) > 0 }
    }

    /// Returns a stored response with its head updated from a newer one (RFC 9111 §4.3.4). `storing` is nil if the
    /// newer head forbids storing, or if its `Date` would make the validator of a part look strong, which it was not when
    /// the part was sent (RFC 9110 §8.8.2.2).
    func updated(
        _ entry: CacheEntry,
        _ stored: StoredResponse,
        with head: HTTPResponse,
        for forwarding: ConditionalRequest,
        _ times: Times
    ) -> (response: StoredResponse, storing: StorableResponse?) {
        let head = updated(stored.head, with: head, times)
        let becomesStrong =
            stored.part != nil && ResourceValidator(of: stored.head) == nil && ResourceValidator(of: head) != nil
        let storing =
            becomesStrong
            ? nil : storing(head, for: forwarding, times, part: stored.part, body: .stored(entry))
        let response =
            storing?.response
            ?? StoredResponse(
                method: stored.method,
                url: stored.url,
                identity: stored.identity,
                head: head,
                requested: times.requested,
                received: times.received,
                part: stored.part
            )
        return (response, storing)
    }
}

extension ResponseDirectives {
    /// True if a response with this status may be stored (RFC 9111 §5.2.2.3, §5.2.2.5).
    func permitStoring(_ status: HTTPStatus?) -> Bool {
        mustUnderstand ? status?.isUnderstood == true : !isNoStore
    }
}

extension HTTPStatus {
    /// True if a response with this status may be stored: it is final and does not depend on the conditions or range of
    /// one request.
    var isStorable: Bool {
        switch rawValue {
        case 206, 304, 412, 416: false
        default: (200..<600).contains(rawValue)
        }
    }

    /// True if the cache understands the status code (RFC 9110, and 451 of RFC 7725).
    var isUnderstood: Bool {
        switch rawValue {
        case 200...206, 300...303, 307, 308, 400...417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// True if a stale response may be served instead of a response with this status (RFC 5861 §4).
    var isServerFailure: Bool {
        switch rawValue {
        case 500, 502, 503, 504: true
        default: false
        }
    }

    /// True if a GET response with this status shows that the previous representation no longer exists: success,
    /// redirection, 404 and 410. Server and gateway failures and errors of a single request do not.
    var replacesStored: Bool {
        switch rawValue {
        case 206, 304: false
        case 200..<400, 404, 410: true
        default: false
        }
    }
}

// MARK: - Cache update

/// The result of processing a response to a ``ConditionalRequest``.
package struct CacheUpdate: Sendable {
    /// The answer to the caller.
    package enum Answer: Sendable {
        /// The response with this head and the received body.
        case response(HTTPResponse)
        /// The stored response. The received body, if any, is dropped.
        case stored(ServableResponse)
        /// This head with a body combined from stored and received bytes. The body is truncated if fewer bytes are
        /// received than ``CacheUpdate/receivedCount``.
        case combined(HTTPResponse, CacheBody)
        /// No answer yet: the response is unusable, and this request has to be sent instead.
        case again(ConditionalRequest)
    }

    package var answer: Answer
    /// The number of bytes that must be received to complete a combined body; nil for other answers.
    package var receivedCount: Int64?
    /// The responses to store. Each replaces the stored response of the same variant. At most one of them uses the
    /// received body.
    package var storing: [StorableResponse] = []
    /// The variants of the request's cache key to remove. None of them is also in ``storing``.
    package var removing: [String] = []
    /// The cache keys to invalidate in the request's partition (RFC 9111 §4.4).
    package var invalidating: [String] = []

    /// Stores a response in the place of an entry; removes the entry if `storing` is nil.
    mutating func add(_ storing: StorableResponse?, inPlaceOf entry: CacheEntry) {
        if let storing, !self.storing.contains(where: { $0.variant == storing.variant }) {
            self.storing.append(storing)
            removing.removeAll { $0 == storing.variant }
        }
        let isKept = self.storing.contains { $0.variant == entry.variant }
        if !isKept, !removing.contains(entry.variant) { removing.append(entry.variant) }
    }
}

extension CacheUpdate {
    /// The maximum number of responses stored under one cache key. A look-up reads all of them.
    static let variantLimit = 16

    /// Removes the oldest stored responses that would exceed the limit.
    ///
    /// - Parameter stored: The responses stored under the cache key, newest first.
    mutating func limitVariants(of stored: [CacheEntry]) {
        guard !storing.isEmpty, stored.count + storing.count > Self.variantLimit else { return }
        let kept = stored.map(\.variant).filter { variant in
            !removing.contains(variant) && !storing.contains { $0.variant == variant }
        }
        removing += kept.dropFirst(max(0, Self.variantLimit - storing.count))
    }
}

/// A response to store.
package struct StorableResponse: Sendable {
    /// The variant to store the response under.
    package let variant: String
    package let response: StoredResponse
    package let body: CacheBody
    /// The number of bytes that must be received for the response to be stored; nil for any number.
    package var receivedCount: Int64?

    /// True if the body includes received bytes.
    package var includesReceivedBytes: Bool {
        switch body {
        case .received: true
        case .stored: false
        case .combined(let pieces, _): pieces.contains(.received)
        }
    }

    /// True if the body consists of the received bytes only.
    package var isStreamable: Bool {
        if case .received = body { true } else { false }
    }
}

/// The source of the bytes of a body.
package enum CacheBody: Sendable {
    /// A contiguous run of bytes.
    package enum Piece: Sendable, Hashable {
        /// These bytes of the stored body, as offsets from its start.
        case stored(Range<Int>)
        /// All received bytes.
        case received
    }

    case received
    case stored(CacheEntry)
    /// The pieces in order; stored pieces come from the entry.
    case combined([Piece], CacheEntry)

    /// The entry whose body the bytes come from, entirely or in part; nil if they are received.
    package var entry: CacheEntry? {
        switch self {
        case .received: nil
        case .stored(let entry), .combined(_, let entry): entry
        }
    }

    /// Returns the bytes of the body.
    package func bytes(received: Data) -> Data {
        switch self {
        case .received: return received
        case .stored(let entry): return entry.body
        case .combined(let pieces, let entry):
            var bytes = Data()
            for piece in pieces {
                switch piece {
                case .received: bytes.append(received)
                case .stored(let range):
                    let range = range.clamped(to: 0..<entry.body.count)
                    let start = entry.body.startIndex
                    bytes.append(entry.body[start + range.lowerBound..<start + range.upperBound])
                }
            }
            return bytes
        }
    }
}
