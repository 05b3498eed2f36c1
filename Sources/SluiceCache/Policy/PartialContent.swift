import SluiceHTTP

extension CacheRules {
    /// Handles a 206: combines it with stored parts of the same version (RFC 9111 §3.4), or stores it alone (§3.3). A
    /// part without a strong validator is always stored alone, because its version is unknown.
    func partialContentUpdate(
        for head: HTTPResponse,
        to forwarding: ConditionalRequest,
        _ times: Times
    ) -> CacheUpdate {
        let part = Self.part(in: head)
        var update = CacheUpdate(answer: .response(marked(head, forwarding, isStored: false)))
        if forwarding.purpose == .completion {
            guard let part, let completed = completion(by: head, part, to: forwarding, times) else {
                return CacheUpdate(answer: .again(unconditional(forwarding)))
            }
            return completed
        }
        guard options.storesPartialResponses, forwarding.request.method == .get,
            forwarding.request.headers.contains(.range), let part, !head.headers.hasContentCoding
        else { return update }
        let validator = ResourceValidator(of: head)
        var storesPart = true
        for entry in forwarding.matching {
            switch merge(of: entry, with: head, part, validator, for: forwarding, times) {
            case .separate: break
            case .unchanged: storesPart = false
            case .removed: update.add(nil, inPlaceOf: entry)
            case .combined(let storing):
                storesPart = false
                update.add(storing, inPlaceOf: entry)
            }
        }
        // A part may cover the entire representation.
        let isWhole = part.range == 0..<part.total
        if storesPart,
            let storing = storing(
                Self.head(storable(head, times), of: part.range, part.total),
                for: forwarding,
                times,
                part: isWhole ? nil : part,
                body: .received,
                receivedCount: part.range.upperBound - part.range.lowerBound
            )
        {
            update.storing.append(storing)
            update.removing.removeAll { $0 == storing.variant }
        }
        let isStored = update.storing.contains { $0.receivedCount != nil }
        if isStored { update.answer = .response(marked(head, forwarding, isStored: true)) }
        return update
    }

    /// The effect of a received part on a stored response.
    private enum PartMerge {
        /// Both are kept: they are parts, and at least one of them has no strong validator.
        case separate
        /// The stored response is kept and the part is not stored: they cannot be combined, or it is unknown which
        /// version is newer.
        case unchanged
        /// The stored response is removed: it is outdated, or the received part replaces it.
        case removed
        /// Both are parts of one version and are combined into this response.
        case combined(StorableResponse)
    }

    /// Returns the effect of a received part on a stored response.
    private func merge(
        of entry: CacheEntry,
        with head: HTTPResponse,
        _ part: StoredPart,
        _ validator: ResourceValidator?,
        for forwarding: ConditionalRequest,
        _ times: Times
    ) -> PartMerge {
        guard let stored = entry.response else { return .unchanged }
        guard validator != nil, let storedValidator = ResourceValidator(of: stored.head) else {
            return stored.part == nil ? .unchanged : .separate
        }
        guard storedValidator.matches(head) == true else { return .removed }
        if stored.metadata.isEncoded { return .unchanged }
        return combined(entry, stored, with: head, part, for: forwarding, times).map { .combined($0) } ?? .removed
    }

    /// Returns the part that a 206 contains; nil for several parts and for an unknown total length.
    private static func part(in head: HTTPResponse) -> StoredPart? {
        let values = head.headers.values(for: .contentRange)
        guard values.count == 1, let field = ContentRange(values[0]), let range = field.range, let total = field.length
        else {
            return nil
        }
        return StoredPart(range: range, total: total)
    }

    /// Combines a stored response with a received part of the same version (RFC 9111 §3.4) into a larger part or the
    /// entire representation. If the part adds no bytes, only the head is updated. Returns nil if the ranges are not
    /// adjacent.
    private func combined(
        _ entry: CacheEntry,
        _ stored: StoredResponse,
        with head: HTTPResponse,
        _ part: StoredPart,
        for forwarding: ConditionalRequest,
        _ times: Times
    ) -> StorableResponse? {
        guard !stored.metadata.isEncoded, stored.part?.isWhole(in: entry) ?? (stored.head.status == .ok) else {
            return nil
        }
        guard let storedPart = stored.part else {
            guard part.total == Int64(entry.body.count) else { return nil }
            return updated(entry, stored, with: head, for: forwarding, times).storing
        }
        guard storedPart.total == part.total, storedPart.range.lowerBound <= part.range.upperBound,
            part.range.lowerBound <= storedPart.range.upperBound
        else { return nil }
        if storedPart.range.clamped(to: part.range) == part.range {
            return updated(entry, stored, with: head, for: forwarding, times).storing
        }
        let range =
            min(
                storedPart.range.lowerBound,
                part.range.lowerBound
            )..<max(storedPart.range.upperBound, part.range.upperBound)
        var pieces: [CacheBody.Piece] = []
        if storedPart.range.lowerBound < part.range.lowerBound {
            pieces.append(.stored(0..<Int(part.range.lowerBound - storedPart.range.lowerBound)))
        }
        pieces.append(.received)
        if part.range.upperBound < storedPart.range.upperBound {
            pieces.append(.stored(Int(part.range.upperBound - storedPart.range.lowerBound)..<entry.body.count))
        }
        let isWhole = range == 0..<part.total
        return storing(
            Self.head(updated(stored.head, with: head, times), of: range, part.total),
            for: forwarding,
            times,
            part: isWhole ? nil : StoredPart(range: range, total: part.total),
            body: .combined(pieces, entry),
            receivedCount: part.range.upperBound - part.range.lowerBound
        )
    }

    /// Completes a stored beginning with the received rest. The combined response is returned and stored if allowed.
    /// Returns nil if the part belongs to another version or range.
    private func completion(
        by head: HTTPResponse,
        _ part: StoredPart,
        to forwarding: ConditionalRequest,
        _ times: Times
    ) -> CacheUpdate? {
        guard let entry = forwarding.selected, let stored = entry.response, let storedPart = stored.part,
            let validator = ResourceValidator(of: stored.head), validator.matches(head) == true,
            !head.headers.hasContentCoding, storedPart.total == part.total,
            part.range == storedPart.range.upperBound..<storedPart.total, storedPart.range.lowerBound == 0,
            storedPart.isWhole(in: entry)
        else { return nil }
        let whole = Self.head(updated(stored.head, with: head, times), of: 0..<storedPart.total, storedPart.total)
        let storing = storing(
            whole,
            for: forwarding,
            times,
            body: .combined([.stored(0..<entry.body.count), .received], entry),
            receivedCount: part.range.upperBound - part.range.lowerBound
        )
        var status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
        status.isStored = storing != nil
        var answer = whole
        answer.headers.append(.cacheStatus) { status.append(to: &$0) }
        var update = CacheUpdate(
            answer: .combined(answer, .combined([.stored(0..<entry.body.count), .received], entry))
        )
        update.receivedCount = part.range.upperBound - part.range.lowerBound
        update.add(storing, inPlaceOf: entry)
        return update
    }

    /// Returns the head for a byte range: 200 for the entire representation, otherwise 206.
    private static func head(_ head: HTTPResponse, of range: Range<Int64>, _ total: Int64) -> HTTPResponse {
        var head = head
        let isWhole = range == 0..<total
        head.status = isWhole ? .ok : .partialContent
        head.removeContentDigests()
        head.headers[.contentLength] = "\(range.upperBound - range.lowerBound)"
        head.headers[.contentRange] =
            isWhole ? nil : "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        return head
    }
}
