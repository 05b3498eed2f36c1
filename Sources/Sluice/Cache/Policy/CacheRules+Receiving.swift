import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheRules {
    /// Decides what to do with a response.
    ///
    /// - Parameters:
    ///   - head: The response's head.
    ///   - forwarding: What it answers.
    ///   - requested: When that was sent.
    ///   - received: When the head came.
    /// - Returns: What to give and what to keep.
    func reception(
        of head: HTTPResponse,
        to forwarding: CacheForwarding,
        requested: Date,
        received: Date
    ) -> CacheReception {
        var reception = reception(of: head, to: forwarding, Times(requested: requested, received: received))
        if RequestDirectives(forwarding.request.headers).isNoStore {
            // What is kept stays as it is (RFC 9111 §5.2.1.5).
            reception.storing = []
            reception.removing = []
        }
        return reception
    }

    private func reception(
        of head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        guard forwarding.concernsCache else {
            var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: false)))
            reception.invalidating = Self.invalidations(after: head, to: forwarding.sent)
            return reception
        }
        switch head.status {
        case .notModified: return confirmation(by: head, to: forwarding, times)
        case .partialContent: return partialReception(of: head, to: forwarding, times)
        case 412 where forwarding.purpose == .completion, 416 where forwarding.purpose == .completion:
            return CacheReception(answer: .again(unconditional(forwarding)))
        case let status where status.isServerFailure:
            if let serving = serving(insteadOf: status, for: forwarding, now: times.received) {
                return CacheReception(answer: .stored(serving))
            }
        default: break
        }
        if forwarding.request.method == .head { return freshening(by: head, to: forwarding, times) }
        return replacement(by: head, to: forwarding, times)
    }

    /// Decides whether what is stored may be given although the server could not be reached (RFC 9111 §4.2.4, RFC 5861 §4).
    ///
    /// - Parameters:
    ///   - status: The status it failed with; nil where no response came, or nothing could be sent.
    ///   - forwarding: What failed.
    ///   - now: The time.
    /// - Returns: Nil where the failure has to be told.
    func serving(
        insteadOf status: HTTPStatus? = nil,
        for forwarding: CacheForwarding,
        now: Date
    ) -> CacheServing? {
        let question = CacheQuestion(forwarding.request)
        guard let entry = forwarding.selected, let terms = entry.response?.terms,
            let form = question.form(of: entry, terms)
        else {
            return nil
        }
        let age = terms.age(at: now)
        let lifetime = lifetime(of: terms)
        let wishes = question.directives
        if terms.directives.isNoCache { return nil }
        if wishes.staleIfError == nil,
            !wishes.accepts(age: age, lifetime: lifetime, isImmutable: terms.directives.isImmutable)
        {
            return nil
        }
        if lifetime <= age {
            let window = wishes.staleIfError ?? terms.directives.staleIfError ?? staleIfError
            guard let window, age - lifetime <= window, age < DeltaSeconds.limit, !terms.directives.mustRevalidate
            else {
                return nil
            }
        }
        let cacheStatus = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: status)
        return serving(Candidate(entry: entry, stored: terms, form: form), age, lifetime, cacheStatus)
    }

    /// A response that is neither a confirmation nor a part: it is kept, or at least what it replaces is not.
    private func replacement(
        by head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        let storing = storing(head, for: forwarding, times)
        var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: storing != nil)))
        if let storing { reception.storing = [storing] }
        if storing != nil || head.status.replacesStored {
            reception.removing = forwarding.matching.map(\.variant).filter { $0 != storing?.variant }
        }
        return reception
    }

    /// A response to HEAD says whether what is stored is still what a GET would bring (RFC 9111 §4.3.5).
    private func freshening(
        by head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: false)))
        if head.status.replacesStored, head.status != .ok {
            reception.removing = forwarding.matching.map(\.variant)
        }
        guard head.status == .ok else { return reception }
        for entry in forwarding.matching {
            guard let stored = entry.response, let isSame = stored.isSame(as: head, entry) else { continue }
            let storing = isSame ? updated(entry, stored, with: head, for: forwarding, times).storing : nil
            reception.add(storing, inPlaceOf: entry)
        }
        return reception
    }

    /// The head as it came with what the cache did.
    func marked(
        _ head: HTTPResponse,
        _ forwarding: CacheForwarding,
        isStored: Bool
    ) -> HTTPResponse {
        var marked = head
        var status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
        status.isStored = isStored
        marked.headers.append(.cacheStatus, status.text)
        return marked
    }

    /// The request as it came, without what the cache had put in.
    func unconditional(_ forwarding: CacheForwarding) -> CacheForwarding {
        self.forwarding(forwarding.request, forwarding.identity, forwarding.reason, matching: forwarding.matching)
    }
}

extension CacheReception {
    /// Keeps something in the place of an entry, or nothing.
    mutating func add(_ storing: CacheStoring?, inPlaceOf entry: CacheEntry) {
        if let storing, !self.storing.contains(where: { $0.variant == storing.variant }) {
            self.storing.append(storing)
            removing.removeAll { $0 == storing.variant }
        }
        let isKept = self.storing.contains { $0.variant == entry.variant }
        if !isKept, !removing.contains(entry.variant) { removing.append(entry.variant) }
    }
}

extension HTTPStatus {
    /// Whether a GET's response of the status shows that what was there before is no more: success, redirection, 404 and 410, but not
    /// the server's or the gateway's own troubles, and not what only this request met with.
    var replacesStored: Bool {
        switch rawValue {
        case 206, 304: false
        case 200..<400, 404, 410: true
        default: false
        }
    }
}

extension StoredResponse {
    /// Whether a HEAD's head is of what is stored: each validator it has is the same, and so is the length (RFC 9111 §4.3.5); nil
    /// where it tells nothing.
    fileprivate func isSame(as newer: HTTPResponse, _ entry: CacheEntry) -> Bool? {
        guard head.status == .ok || head.status == .partialContent else { return false }
        var isSame: Bool?
        for name in [HTTPHeaderName.eTag, .lastModified] where newer.headers.contains(name) {
            if newer.headers.fieldValues(for: name) != head.headers.fieldValues(for: name) { return false }
            isSame = true
        }
        if let text = newer.headers[.contentLength], let length = Int64(text) {
            let own =
                part?.total ?? head.headers[.contentLength].flatMap { Int64($0) }
                ?? (terms.isEncoded ? nil : Int64(entry.body.count))
            if let own, own != length { return false }
        }
        return isSame
    }
}
