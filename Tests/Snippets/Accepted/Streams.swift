import Foundation
import Sluice

// Responses that are read while they arrive.

func linesOfAStream() async throws {
    for try await line in shop.stream("log").lines { show(line) }
}

func streamWithErrorModel() async {
    let request: StreamRequest<ShopError> = shop.stream("log")
    do throws(ShopError) {
        for try await line in request.lines { show(line) }
    } catch {
        show(error.message)
    }
}

func valuesOfAStream() async throws {
    for try await user in shop.stream("users").jsonLines(of: User.self) { show(user.name) }
}

func streamWithABody() async throws {
    for try await event in shop.stream("chat").post(.json(["prompt": "Why?"])).serverSentEvents() { show(event.data) }
}

func streamOfARequest() async throws {
    for try await chunk in shop.data.post("export").json(["year": 2026]).stream().bytes { show(chunk.count) }
}

func severalLoops() async throws {
    let response = try await shop.stream("message").response()
    for try await line in response.lines where line.isEmpty { break }
    for try await user in response.jsonLines(of: User.self) {
        show(user)
        break
    }
    let rest = try await response.collect(upTo: 1 << 20)
    show(rest.count)
}

func parserOfAStream() async throws {
    struct Bytes: StreamParser {
        private var bytes: [UInt8] = []
        mutating func append(_ chunk: Data) { bytes += chunk }
        mutating func finish() {}
        var unread: Data { Data(bytes) }
        mutating func next() throws(SluiceError) -> UInt8? { bytes.isEmpty ? nil : bytes.removeFirst() }
    }
    for try await byte in shop.stream("log").elements(parsedBy: { Bytes() }) { show(byte) }
}

func events() async throws {
    for try await event in shop.stream("prices").serverSentEvents() {
        let user: User = try event.decoded()
        show(user)
    }
}

func eventsWithAPolicy() async throws {
    let policy = Reconnection(delay: .seconds(1), delayLimits: .seconds(1) ... .seconds(60), maximumAttempts: 100)
    for try await event in shop.stream("prices").serverSentEvents(reconnection: policy) { show(event.type) }
}

func restartedEvents() async throws {
    let prices = shop.stream("prices").serverSentEvents()
    let loop = Task { for try await event in prices { show(event.data) } }
    prices.restart()
    try await loop.value
}

func signalsOfEvents() async throws {
    for try await signal in shop.stream("prices").serverSentEvents().signals {
        switch signal {
        case .connected(let head): show(head.status)
        case .event(let event): show(event.data)
        case .comment(let comment): show(comment)
        case .disconnected(let error, let delay):
            show(error?.code)
            show(delay)
        }
    }
}

func signalsWithErrorModel() async {
    let request: StreamRequest<ShopError> = shop.stream("prices")
    do throws(ShopError) {
        for try await case .comment(let comment) in request.serverSentEvents().signals { show(comment) }
    } catch {
        show(error.message)
    }
}

func errorOfAStream() async {
    do throws(ShopError) {
        let request = shop.data.get("log").serializingErrors { ShopError($0) }.stream()
        for try await line in request.lines { show(line) }
    } catch {
        show(error.message)
    }
}

func streamWithATimeout() async throws {
    for try await line in shop.stream("log").timeout(.seconds(60)).lines { show(line) }
}

func eventsOfAResponse() async throws {
    let response = try await shop.stream("prices").response()
    for try await event in response.serverSentEvents() { show(event.lastEventID) }
}
