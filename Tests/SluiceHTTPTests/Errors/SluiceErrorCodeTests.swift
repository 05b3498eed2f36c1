import SluiceHTTP
import Testing

@Suite struct SluiceErrorCodeTests {
    private static let named: [(SluiceError.Code, String)] = [
        (.invalidURL, "invalidURL"), (.unsupportedScheme, "unsupportedScheme"), (.invalidHeader, "invalidHeader"),
        (.invalidMethod, "invalidMethod"), (.encodingFailed, "encodingFailed"),
        (.cannotResolveHost, "cannotResolveHost"), (.cannotConnect, "cannotConnect"), (.tlsFailed, "tlsFailed"),
        (.proxyFailed, "proxyFailed"), (.bodyUnavailable, "bodyUnavailable"),
        (.bodyLengthMismatch, "bodyLengthMismatch"), (.bodyNotReplayable, "bodyNotReplayable"),
        (.connectionLost, "connectionLost"), (.truncatedBody, "truncatedBody"), (.invalidResponse, "invalidResponse"),
        (.headersTooLarge, "headersTooLarge"), (.bodyTooLarge, "bodyTooLarge"),
        (.tooManyRedirects, "tooManyRedirects"), (.redirectLoop, "redirectLoop"),
        (.redirectRefused, "redirectRefused"), (.unacceptableStatus, "unacceptableStatus"),
        (.unacceptableContentType, "unacceptableContentType"), (.validationFailed, "validationFailed"),
        (.decodingFailed, "decodingFailed"), (.cancelled, "cancelled"), (.timedOut, "timedOut"),
        (.connectTimedOut, "connectTimedOut"), (.idleTimedOut, "idleTimedOut"), (.unsupported, "unsupported"),
        (.internalFailure, "internalFailure"), (.interceptorFailed, "interceptorFailed"), (.gateFailed, "gateFailed"),
        (.queueFull, "queueFull"), (.cookieFileFailed, "cookieFileFailed"),
    ]

    @Test func descriptionIsTheNameOfTheMember() {
        for (code, name) in Self.named { #expect(code.description == name) }
        #expect(Set(Self.named.map(\.0)).count == Self.named.count)
    }

    @Test func customCodeCanBeSwitchedOver() {
        func answer(_ error: SluiceError) -> String {
            switch error.code {
            case .timedOut, .idleTimedOut: "late"
            case SluiceError.Code("quotaUsedUp"): "quota"
            default: "other"
            }
        }
        #expect(answer(SluiceError(.idleTimedOut, "")) == "late")
        #expect(answer(SluiceError(.init("quotaUsedUp"), "")) == "quota")
        #expect(answer(SluiceError(.cancelled, "")) == "other")
    }

    @Test func catchClauseCanMatchTheCode() {
        do {
            throw SluiceError(.timedOut, "Late.") as any Error
        } catch let error as SluiceError where error.code == .cancelled {
            Issue.record("The wrong clause caught it: \(error)")
        } catch let error as SluiceError where error.code == .timedOut {
            #expect(error.reason == "Late.")
        } catch {
            Issue.record("No clause caught it: \(error)")
        }
    }
}
