import FleetReport
import Sluice
import SluiceTesting
import Synchronization

/// The API that the services call, with its authorization server. It records each request.
struct Upstream {
    private let server: LoopbackServer
    private let log: EventLog

    init(_ rules: FleetRules, log: EventLog) throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        (self.server, self.log) = (server, log)
        let state = SharedState(rules)
        server.on(.post, "/token") { request in
            let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
            let refreshToken = form.first { $0.hasPrefix("refresh_token=") }.map {
                String($0.dropFirst("refresh_token=".count))
            }
            switch state.tokens.withLock({ $0.exchange(refreshToken ?? "", at: EventLog.now) }) {
            case .issued(let number):
                log.write(FleetEvent(.token, at: EventLog.now))
                let lifetime = "\"expires_in\":\(Int(rules.tokenLifetime))"
                return .json(
                    "{\"access_token\":\"a\(number)\",\"refresh_token\":\"r\(number)\",\"token_type\":\"Bearer\",\(lifetime)}"
                )
            case .reused:
                log.write(FleetEvent(.reusedToken, at: EventLog.now))
                return .json("{\"error\":\"invalid_grant\"}", status: .badRequest)
            }
        }
        server.on(.get, "/orders/*") { request in
            if let refusal = state.refusal(of: request, log) { return refusal }
            log.write(FleetEvent(.order, at: EventLog.now))
            let number = Int(request.path.dropFirst("/orders/".count)) ?? 0
            return .text(UpstreamText.order(number), headers: ["Cache-Control": "no-store"])
        }
        server.on(.get, "/pages/*") { request in
            if let refusal = state.refusal(of: request, log) { return refusal }
            let number = Int(request.path.dropFirst("/pages/".count)) ?? 0
            log.write(FleetEvent(.page, at: EventLog.now, page: number))
            let version = state.fetches.withLock { fetches in
                fetches += 1
                return fetches
            }
            let cacheControl = "public, max-age=\(Int(rules.pageLifetime))"
            return .text(UpstreamText.page(number, version: version), headers: ["Cache-Control": cacheControl])
        }
    }

    /// Answers requests until SIGTERM.
    func run() async {
        log.write(FleetEvent(.ready, at: EventLog.now, url: server.url))
        await Termination.wait()
        server.stop()
    }

    private final class SharedState: Sendable {
        let tokens: Mutex<TokenIssuer>
        let fetches = Mutex(0)

        init(_ rules: FleetRules) {
            tokens = Mutex(TokenIssuer(lifetime: rules.tokenLifetime))
        }

        func refusal(of request: LoopbackRequest, _ log: EventLog) -> LoopbackResponse? {
            let token = request.headers[.authorization] ?? ""
            if tokens.withLock({ $0.accepts(token, at: EventLog.now) }) { return nil }
            log.write(FleetEvent(.refused, at: EventLog.now))
            return .status(.unauthorized, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        }
    }
}

/// The tokens of an authorization server that accepts each refresh token once.
struct TokenIssuer: Sendable {
    enum Outcome: Equatable {
        case issued(Int)
        /// The refresh token was exchanged before, or was never issued.
        case reused
    }

    let lifetime: Double
    /// The number of the newest refresh token. The first one, 0, is that of the user's sign-in.
    private var newest = 0
    /// The times at which the access tokens expire, by their `Authorization` header.
    private var expiries: [String: Double] = [:]

    init(lifetime: Double) {
        self.lifetime = lifetime
    }

    mutating func exchange(_ refreshToken: String, at time: Double) -> Outcome {
        guard refreshToken == "r\(newest)" else { return .reused }
        newest += 1
        expiries["Bearer a\(newest)"] = time + lifetime
        return .issued(newest)
    }

    func accepts(_ authorization: String, at time: Double) -> Bool {
        expiries[authorization].map { time < $0 } ?? false
    }
}

/// The bodies of the upstream, which services can check.
enum UpstreamText {
    static func order(_ number: Int) -> String { "order \(number)" }

    static func page(_ number: Int, version: Int) -> String {
        "page \(number) version \(version)\n" + String(repeating: "line of \(number) in \(version)\n", count: 100)
    }

    /// True if a text is the whole of some version of a page.
    static func isPage(_ number: Int, _ text: String) -> Bool {
        let words = text.prefix { $0 != "\n" }.split(separator: " ")
        guard words.count == 4, let version = Int(words[3]) else { return false }
        return text == page(number, version: version)
    }
}
