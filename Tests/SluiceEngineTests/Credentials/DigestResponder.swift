#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import SluiceTesting

/// The server side of Basic and Digest as in RFC 7616, without the engine's code.
final class DigestResponder: Sendable {
    struct Rules: Sendable {
        var user = "ada"
        var password = "s3cret, \u{FC}nd so"
        var realm = "the \"realm\""
        /// The offered algorithms, each in a separate challenge; `basic` for Basic.
        var algorithms = ["SHA-256"]
        /// The offered quality of protection; nil for RFC 2069.
        var quality: String? = "auth"
        var domain: String?
        var hashesUser = false
        /// The number of accepted answers to a nonce before it is stale.
        var uses = Int.max
        /// Treats a count that is lower than an earlier one as a replay.
        var requiresIncreasingCounts = false
        /// Omits `stale` when a nonce is stale.
        var omitsStale = false
        /// Sends another nonce with each response.
        var sendsNextNonce = false
        /// Refuses every answer as stale.
        var alwaysReportsStale = false
        /// The body of the 401 response.
        var refusalText = "who?"
    }

    private struct State: Sendable {
        var issued: [String: String] = [:]
        var counts: [String: [Int]] = [:]
        var made = 0
        var verdicts: [String] = []
    }

    let rules: Rules
    private let state = Locked(State())

    init(_ change: (inout Rules) -> Void = { _ in }) {
        var rules = Rules()
        change(&rules)
        self.rules = rules
    }

    /// The verdicts on the requests so far: `none`, `wrong`, `replay`, `stale`, `basic`, or algorithm and count for accepted
    /// digests.
    var verdicts: [String] { state.withLock { $0.verdicts } }

    /// Answers an authorized request with `inside`, which gets the authentication fields of the response. Challenges all other
    /// requests.
    func respond(
        to request: LoopbackRequest,
        _ inside: (LoopbackRequest, HTTPHeaders) -> LoopbackResponse = { .data($0.body, headers: $1) }
    ) -> LoopbackResponse {
        let (verdict, info) = state.withLock { state in
            let verdict = self.verdict(on: request, &state)
            state.verdicts.append(verdict)
            return (verdict, rules.sendsNextNonce ? #"nextnonce="\#(self.nonce("", &state))""# : nil)
        }
        if ["none", "wrong", "replay", "stale"].contains(verdict) {
            return challenge(isStale: verdict == "stale" && !rules.omitsStale)
        }
        var headers: HTTPHeaders = [:]
        if let info { headers.append("Authentication-Info", info) }
        return inside(request, headers)
    }

    private func nonce(_ algorithm: String, _ state: inout State) -> String {
        state.made += 1
        let nonce = "n/\(state.made)=="
        state.issued[nonce] = algorithm
        return nonce
    }

    private func challenge(isStale: Bool) -> LoopbackResponse {
        var headers: HTTPHeaders = ["X-Challenge": "1"]
        let quoted = rules.realm.replacingOccurrences(of: "\"", with: "\\\"")
        for algorithm in rules.algorithms {
            if algorithm == "basic" {
                headers.append("WWW-Authenticate", "Basic realm=\"\(quoted)\"")
                continue
            }
            let nonce = state.withLock { self.nonce(algorithm, &$0) }
            var field = "Digest realm=\"\(quoted)\", nonce=\"\(nonce)\", algorithm=\(algorithm), opaque=\"o, \(nonce)\""
            if let quality = rules.quality { field += ", qop=\"\(quality)\"" }
            if let domain = rules.domain { field += ", domain=\"\(domain)\"" }
            if rules.hashesUser { field += ", userhash=true, charset=UTF-8" }
            if isStale { field += ", stale=true" }
            headers.append("WWW-Authenticate", field)
        }
        return .text(rules.refusalText, status: .unauthorized, headers: headers)
    }

    private func verdict(on request: LoopbackRequest, _ state: inout State) -> String {
        let values = request.headers.values(for: .authorization)
        guard let value = values.first else { return "none" }
        if values.count > 1 { return "wrong" }
        if value.hasPrefix("Basic ") {
            let wanted = Data("\(rules.user):\(rules.password)".utf8).base64EncodedString()
            return rules.algorithms.contains("basic") && value == "Basic \(wanted)" ? "basic" : "wrong"
        }
        guard value.hasPrefix("Digest ") else { return "wrong" }
        let fields = DigestResponder.fields(of: value.dropFirst(7))
        guard let nonce = fields["nonce"], let issued = state.issued[nonce] else { return "wrong" }
        let algorithm = issued.isEmpty ? fields["algorithm"] ?? "" : issued
        guard isRight(fields, algorithm, nonce, request) else { return "wrong" }
        let count = Int(fields["nc"] ?? "1", radix: 16) ?? 0
        let counts = state.counts[nonce, default: []]
        if rules.quality != nil, counts.contains(count) || count < 1 { return "replay" }
        if rules.requiresIncreasingCounts, count < counts.max() ?? 0 { return "replay" }
        state.counts[nonce] = counts + [count]
        if rules.alwaysReportsStale || counts.count >= rules.uses { return "stale" }
        return "\(algorithm) \(count)"
    }

    private func isRight(
        _ fields: [String: String],
        _ algorithm: String,
        _ nonce: String,
        _ request: LoopbackRequest
    ) -> Bool {
        func hash(_ text: String) -> String { DigestResponder.hash(Data(text.utf8), algorithm) }
        let user = rules.hashesUser ? hash("\(rules.user):\(rules.realm)") : rules.user
        guard fields["username"] == user, fields["realm"] == rules.realm, fields["uri"] == request.target,
            fields["algorithm"] == algorithm, (fields["userhash"] == "true") == rules.hashesUser
        else { return false }
        let cnonce = fields["cnonce"] ?? ""
        var secret = hash("\(rules.user):\(rules.realm):\(rules.password)")
        if algorithm.hasSuffix("-sess") { secret = hash("\(secret):\(nonce):\(cnonce)") }
        var covered = "\(request.method.rawValue):\(request.target)"
        if fields["qop"] == "auth-int" { covered += ":\(DigestResponder.hash(request.body, algorithm))" }
        guard let quality = fields["qop"] else {
            let isBare = fields["nc"] == nil && (fields["cnonce"] == nil || algorithm.hasSuffix("-sess"))
            return rules.quality == nil && isBare && fields["response"] == hash("\(secret):\(nonce):\(hash(covered))")
        }
        let offered = rules.quality?.split(separator: ",").map(String.init) ?? []
        guard offered.contains(quality), cnonce.utf8.count >= 16, let count = fields["nc"], count.utf8.count == 8 else {
            return false
        }
        return fields["response"] == hash("\(secret):\(nonce):\(count):\(cnonce):\(quality):\(hash(covered))")
    }

    private static func hash(_ data: Data, _ algorithm: String) -> String {
        let function =
            switch algorithm.replacingOccurrences(of: "-sess", with: "") {
            case "MD5": EVP_md5()
            case "SHA-256": EVP_sha256()
            default: EVP_sha512_256()
            }
        var digest = [UInt8](repeating: 0, count: 64)
        var count: UInt32 = 0
        let bytes = [UInt8](data)
        _ = EVP_Digest(bytes, bytes.count, &digest, &count, function, nil)
        return digest.prefix(Int(count)).map { String(format: "%02x", $0) }.joined()
    }

    /// Parses `name=value` and `name="value"` separated by commas.
    private static func fields(of text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].drop { ", ".contains($0) }
            rest = rest[equals...].dropFirst()
            var value = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    if character == "\\", let escaped = rest.popFirst() {
                        value.append(escaped)
                    } else {
                        value.append(character)
                    }
                }
            } else {
                value = String(rest.prefix { $0 != "," })
                rest = rest.dropFirst(value.count)
            }
            fields[String(name)] = value
        }
        return fields
    }
}
#endif
