import SluiceHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct SluiceErrorTests {
    private struct Cause: Error, CustomStringConvertible {
        var description: String { "the-cause" }
    }

    private static let request = HTTPRequest(
        method: .post,
        scheme: "https",
        authority: "user:pass@a.test",
        path: "/p?key=query",
        headers: ["Authorization": "header"],
        body: .data(Data("body".utf8))
    )
    private static let response = HTTPResponse(status: 503, headers: ["Set-Cookie": "cookie"])

    @Test func descriptionHasTheTargetAndReasonWithoutSecrets() {
        let error = SluiceError(
            .timedOut,
            "It took too long.",
            request: Self.request,
            response: Self.response,
            underlyingError: Cause()
        )
        #expect("\(error)" == "POST https://a.test/p: It took too long.")
        #expect("\(SluiceError(.timedOut, "It took too long."))" == "It took too long.")
    }

    @Test func expandedDescriptionHasAllDetailsButSecrets() {
        let error = SluiceError(
            .connectionLost,
            "Lost.",
            step: .recovery,
            request: Self.request,
            response: Self.response,
            underlyingError: Cause()
        )
        let lines = error.expandedDescription.split(separator: "\n")
        #expect(lines.first == "Lost. [connectionLost, in recovery]")
        #expect(lines.contains("request: POST https://REDACTED@a.test/p?key=REDACTED [Authorization]"))
        #expect(lines.contains("response: 503 [Set-Cookie]"))
        #expect(lines.contains("cause: the-cause"))
        #expect(SluiceError(.timedOut, "Late.").expandedDescription == "Late. [timedOut, in transport]")
    }

    @Test func newErrorHasTheTransportStepAndNoRequest() {
        let error = SluiceError(.cannotConnect, "No.")
        #expect(error.code == .cannotConnect)
        #expect(error.reason == "No.")
        #expect(error.step == .transport)
        #expect(error.request == nil)
        #expect(error.response == nil)
        #expect(error.underlyingError == nil)
    }

    @Test func requestCannotForgeLinesOfALog() {
        let path = "/\r\nERROR \u{85}for\u{2028}ged\u{202E}"
        var request = HTTPRequest(scheme: "http", authority: "a\u{1B}[2J", path: path)
        request.method = "GET\nERROR"
        request.headers = ["X\nERROR": "1"]
        let error = SluiceError(.invalidMethod, "No.", request: request)
        let texts = "\(error)\(request)\(request.headers)"
        #expect(texts.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) })
        #expect(error.expandedDescription.split(whereSeparator: \.isNewline).count == 2)
    }

    @Test func addingDetailsKeepsThoseThatAreSet() {
        let bare = SluiceError(.cannotConnect, "No.", step: .cache, underlyingError: Cause())
        let full = bare.with(step: .recovery, request: Self.request, response: Self.response)
        #expect(full.step == .recovery)
        #expect(full.request?.path == "/p?key=query")
        #expect(full.response?.status == 503)

        let other = HTTPRequest(scheme: "http", authority: "other", path: "/")
        let again = full.with(request: other, response: HTTPResponse(status: 200))
        #expect(again.step == .recovery)
        #expect(again.request?.authority == "user:pass@a.test")
        #expect(again.response?.status == 503)
        #expect(again.code == .cannotConnect)
        #expect(again.reason == "No.")
        #expect(again.underlyingError is Cause)

        #expect(bare.with().step == .cache)
        #expect(bare.request == nil)
    }

    @Test(
        arguments: [(.cancelled, true), (.timedOut, false), (.init("cancelled"), true)] as [(SluiceError.Code, Bool)]
    )
    func onlyTheCancelledCodeIsACancellation(code: SluiceError.Code, isCancellation: Bool) {
        #expect(SluiceError(code, "").isCancellation == isCancellation)
    }

    @Test func commonErrorsHaveTheirCodes() {
        #expect(SluiceError.cancelled.isCancellation)
        #expect("\(SluiceError.bodyTooLarge(limit: 7))".contains("limit of 7 bytes"))
        #expect(SluiceError.bodyTooLarge(limit: 7).code == .bodyTooLarge)
    }
}
