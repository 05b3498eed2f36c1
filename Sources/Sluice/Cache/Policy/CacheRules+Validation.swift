import SluiceHTTP

extension CacheRules {
    /// A 304: what it confirms is updated (RFC 9111 §4.3.3, §4.3.4).
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
        // The request's own conditions held; that is its own affair.
        case .response: break
        // Nothing was asked that a 304 answers.
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

    /// What a 304 is about (RFC 9111 §4.3.4): by a strong validator all that have it; else by a weak one the newest that has it; and
    /// without any, that which was asked about.
    ///
    /// The RFC knows the last only for what has no validator itself; but a 304 to a condition on one thing can be about no other, and many
    /// servers send nothing with it. For the same reason a weak tag that was asked about is confirmed by its strong twin, which nginx sends
    /// with a 304 where it would have compressed the response; it stays a weak one.
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

    /// The one that was asked about, where it is among them, since it is the newest that answers the request; else the newest.
    private func preferred(_ entries: [CacheEntry], _ forwarding: CacheForwarding) -> [CacheEntry] {
        if let selected = forwarding.selected, forwarding.purpose == .validation,
            entries.contains(where: { $0 === selected })
        {
            return [selected]
        }
        return Array(entries.prefix(1))
    }
}
