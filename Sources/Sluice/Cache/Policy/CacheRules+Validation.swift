import SluiceHTTP

extension CacheRules {
    /// Handles a 304: updates the stored responses that it identifies (RFC 9111 §4.3.3, §4.3.4).
    func confirmation(
        by head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: false)))
        var confirmed: ResponseTerms?
        for entry in identified(by: head, forwarding) {
            guard let stored = entry.response else { continue }
            var newer = head
            if let own = stored.terms.entityTag, own.isWeak { newer.headers.set(.eTag, to: own.fieldValue) }
            let (response, storing) = updated(entry, stored, with: newer, for: forwarding, times)
            reception.add(storing, inPlaceOf: entry)
            if entry === forwarding.selected { confirmed = response.terms }
        }
        switch forwarding.purpose {
        // The conditions of the request itself were met, so the caller gets the 304.
        case .response: break
        // The request for missing bytes has no condition that a 304 could answer.
        case .completion: reception.answer = .again(unconditional(forwarding))
        case .validation:
            guard let entry = forwarding.selected, let response = confirmed,
                let form = CacheQuestion(forwarding.request).form(of: entry, response)
            else {
                reception.answer = .again(unconditional(forwarding))
                break
            }
            let status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
            let serving = serving(
                Candidate(entry: entry, stored: response, form: form),
                response.age(at: times.received),
                lifetime(of: response),
                status,
                isRevalidated: true
            )
            reception.answer = .stored(serving)
        }
        return reception
    }

    /// Returns the stored responses that a 304 updates (RFC 9111 §4.3.4): with a strong validator, all that have it;
    /// with a weak validator, the newest that has it; with no validator, the one that was validated.
    ///
    /// RFC 9111 permits the last case only for stored responses without a validator. Many servers omit validators from
    /// a 304, though, and a 304 to a condition on one response cannot concern another. For the same reason, a strong
    /// tag confirms the equal weak tag that was validated; it remains weak. nginx sends such a tag with a 304 where it
    /// would have compressed the response.
    private func identified(by head: HTTPResponse, _ forwarding: CacheForwarding) -> [CacheEntry] {
        if let tag = EntityTag(of: head) {
            let same = forwarding.matching.filter { entry in
                guard let own = entry.response?.terms.entityTag, own.opaque == tag.opaque else { return false }
                return tag.isWeak || !own.isWeak
            }
            if same.isEmpty, forwarding.purpose == .validation, let selected = forwarding.selected,
                selected.response?.terms.entityTag?.opaque == tag.opaque
            {
                return [selected]
            }
            return tag.isWeak ? preferred(same, forwarding) : same
        }
        if let modified = head.headers[.lastModified] {
            let same = forwarding.matching.filter { entry in
                guard let stored = entry.response, let own = stored.terms.lastModified else { return false }
                return stored.head.headers[.lastModified] == modified
                    || HTTPDate.parse(modified, now: stored.received) == own
            }
            return preferred(same, forwarding)
        }
        guard forwarding.purpose == .validation, let selected = forwarding.selected else { return [] }
        return [selected]
    }

    /// Returns the validated response if it is among the entries, because it is the newest that satisfies the request;
    /// otherwise the newest.
    private func preferred(_ entries: [CacheEntry], _ forwarding: CacheForwarding) -> [CacheEntry] {
        if let selected = forwarding.selected, forwarding.purpose == .validation,
            entries.contains(where: { $0 === selected })
        {
            return [selected]
        }
        return Array(entries.prefix(1))
    }
}
