import Foundation
import Sluice

// Observers, as written at first.

// error: Write ".began"
func kindStarted() {
    let kinds: RequestEvent.Kinds = [.started, .finished]
    show(kinds)
}

// error: Write ".sending"
func kindSent() {
    let kinds: RequestEvent.Kinds = [.sent, .finished]
    show(kinds)
}

// error: Write ".retrying"
func kindRetried() {
    let kinds: RequestEvent.Kinds = [.retried, .finished]
    show(kinds)
}

// error: Write ".retrying"
func kindHedging() {
    let kinds: RequestEvent.Kinds = [.hedging, .finished]
    show(kinds)
}

// error: Write ".finished"
func kindSucceeded() {
    let kinds: RequestEvent.Kinds = [.succeeded, .finished]
    show(kinds)
}

// error: Write ".finished"
func kindFailed() {
    let kinds: RequestEvent.Kinds = [.failed, .finished]
    show(kinds)
}

// error: Write "elapsed".
func observedDuration(request: ObservedRequest) {
    print(request.duration)
}

// error: Events have the request: "if case .sending(let request) = event".
func observedRequest(request: ObservedRequest) {
    print(request.request.method)
}

// error: Write "route", or read the URL of an event
func observedURL(request: ObservedRequest) {
    print(request.url)
}

// error: Read the URL of an event
func observedHost(request: ObservedRequest) {
    print(request.host)
}

// error: Write "route", or read the URL of an event
func observedPath(request: ObservedRequest) {
    print(request.path)
}

// error: Write "write(to: url)".
func harSave() async throws {
    try await HARRecorder().save(to: URL(filePath: "/a"))
}

// error: Write "append("X-Key")".
func secretHeadersInsert() {
    show(APIClient(baseURL: "https://shop.example") { $0.secretHeaders.insert("X-Key") })
}
