import SluiceHTTP

extension CacheRules {
    /// Handles a 206: combines it with stored parts of the same version (RFC 9111 §3.4), or stores it alone (§3.3).
    func partialReception(
        of head: HTTPResponse,
        to forwarding: ConditionalRequest,
        _ times: Times
    ) -> CacheUpdate {
        let part = Self.part(in: head)
        var reception = CacheUpdate(answer: .response(marked(head, forwarding, isStored: false)))
        if forwarding.purpose == .completion {
            guard let part, let completed = completion(by: head, part, to: forwarding, times) else {
                return CacheUpdate(answer: .again(unconditional(forwarding)))
            }
            return completed
        }
        guard options.storesPartialResponses, forwarding.request.method == .get,
            forwarding.request.headers.contains(.range), let part, !head.headers.hasContentCoding
        else { return reception }
        let validator = ResourceValidator(of: head)
        var isOpen = validator != nil
        for entry in forwarding.matching {
            switch meeting(of: entry, with: head, part, validator, for: forwarding, times) {
            case .stays: isOpen = false
            case .yields: reception.add(nil, inPlaceOf: entry)
            case .becomes(let storing):
                isOpen = false
                reception.add(storing, inPlaceOf: entry)
            }
        }
        // A part may cover the entire representation.
        let isWhole = part.range == 0..<part.total
        if isOpen,
            let storing = storing(
                Self.head(StoredHead.storable(head, received: times.received), of: part.range, part.total),
                for: forwarding,
                times,
                part: isWhole ? nil : part,
                body: .received,
                receivedCount: part.range.upperBound - part.range.lowerBound
            )
        {
            reception.storing.append(storing)
            reception.removing.removeAll { $0 == storing.variant }
        }
        let isStored = reception.storing.contains { $0.receivedCount != nil }
        if isStored { reception.answer = .response(marked(head, forwarding, isStored: true)) }
        return reception
    }

    /// The effect of a received part on a stored response.
    private enum Meeting {
        /// The stored response is kept and the part is not stored: they cannot be combined, or nothing tells which
        /// version is newer.
        case stays
        /// The stored response is removed: it is outdated, or the received part replaces it.
        case yields
        /// Both are parts of one version and are combined into this response.
        case becomes(CacheStoring)
    }

    private func meeting(
        of entry: CacheEntry,
        with head: HTTPResponse,
        _ part: StoredPart,
        _ validator: ResourceValidator?,
        for forwarding: ConditionalRequest,
        _ times: Times
    ) -> Meeting {
        guard validator != nil, let stored = entry.response, let own = ResourceValidator(of: stored.head) else {
            return .stays
        }
        guard own.matches(head) == true else { return .yields }
        if stored.terms.isEncoded { return .stays }
        return combined(entry, stored, with: head, part, for: forwarding, times).map { .becomes($0) } ?? .yields
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
    ) -> CacheStoring? {
        guard !stored.terms.isEncoded, stored.part?.isWhole(in: entry) ?? (stored.head.status == .ok) else {
            return nil
        }
        guard let own = stored.part else {
            guard part.total == Int64(entry.body.count) else { return nil }
            return updated(entry, stored, with: head, for: forwarding, times).storing
        }
        guard own.total == part.total, own.range.lowerBound <= part.range.upperBound,
            part.range.lowerBound <= own.range.upperBound
        else { return nil }
        if own.range.clamped(to: part.range) == part.range {
            return updated(entry, stored, with: head, for: forwarding, times).storing
        }
        let range =
            min(own.range.lowerBound, part.range.lowerBound)..<max(own.range.upperBound, part.range.upperBound)
        var pieces: [CacheBody.Piece] = []
        if own.range.lowerBound < part.range.lowerBound {
            pieces.append(.stored(0..<Int(part.range.lowerBound - own.range.lowerBound)))
        }
        pieces.append(.received)
        if part.range.upperBound < own.range.upperBound {
            pieces.append(.stored(Int(part.range.upperBound - own.range.lowerBound)..<entry.body.count))
        }
        let isWhole = range == 0..<part.total
        return storing(
            Self.head(StoredHead.updated(stored.head, with: head, received: times.received), of: range, part.total),
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
        guard let entry = forwarding.selected, let stored = entry.response, let own = stored.part,
            let validator = ResourceValidator(of: stored.head), validator.matches(head) == true,
            !head.headers.hasContentCoding, own.total == part.total,
            part.range == own.range.upperBound..<own.total, own.range.lowerBound == 0, own.isWhole(in: entry)
        else { return nil }
        let whole = Self.head(
            StoredHead.updated(stored.head, with: head, received: times.received),
            of: 0..<own.total,
            own.total
        )
        let storing = storing(
            whole,
            for: forwarding,
            times,
            body: .combined([.stored(0..<entry.body.count), .received], entry),
            receivedCount: part.range.upperBound - part.range.lowerBound
        )
        var status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
        status.isStored = storing != nil
        var given = whole
        given.headers.append(.cacheStatus, status.text)
        var reception = CacheUpdate(
            answer: .combined(given, .combined([.stored(0..<entry.body.count), .received], entry))
        )
        reception.receivedCount = part.range.upperBound - part.range.lowerBound
        reception.add(storing, inPlaceOf: entry)
        return reception
    }

    /// Returns the head for a byte range: 200 for the entire representation, otherwise 206.
    private static func head(_ head: HTTPResponse, of range: Range<Int64>, _ total: Int64) -> HTTPResponse {
        var head = head
        let isWhole = range == 0..<total
        head.status = isWhole ? .ok : .partialContent
        head.headers[.contentLength] = "\(range.upperBound - range.lowerBound)"
        head.headers[.contentRange] =
            isWhole ? nil : "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        return head
    }
}
