import Testing

@testable import Sluice

/// Parsing of `traceparent` and `tracestate` (W3C Trace Context, level 1, §3.2, §3.3 and §4.3).
@Suite struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(
        arguments: [
            ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-03", true),
            ("00-\(trace)-\(span)-fe", false), ("cc-\(trace)-\(span)-01", true),
            ("cc-\(trace)-\(span)-01-what-the-future-will-be-like", true), ("01-\(trace)-\(span)-01-", true),
        ]
    )
    func parsesValidHeader(_ text: String, _ isSampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: text))
        #expect(context.traceID == Self.trace)
        #expect(context.parentID == Self.span)
        #expect(context.isSampled == isSampled)
        // The sent field has the supported version and no unknown flags.
        #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-0\(isSampled ? 1 : 0)")
    }

    @Test(
        arguments: [
            "", "00", "-", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
            "ff-\(trace)-\(span)-01", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x", "00-\(trace)-\(span)-011",
            "cc-\(trace)-\(span)-01.x", "cc-\(trace)-\(span)-0",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", "00-\(trace)-00F067AA0BA902B7-01",
            "00-\(trace)-\(span)-0A",
            "0x-\(trace)-\(span)-01", "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01",
            " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ", "00-\(trace.dropLast())g-\(span)-01",
            "00-\(trace)\(span)---01", "00-\(trace)-\(span)-0é",
        ]
    )
    func rejectsInvalidHeader(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(
        arguments: [
            "a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1 , b=2", "a=1,,b=2", "\ta=1 ", "fw529a3039@dt=FfFf",
            "0tenant@sys=x", "a_-*/9=!\"#$%&'()*+-./:;<>?@[]^_`{|}~", "a= 1", "a=b c",
            "\(String(repeating: "a", count: 256))=1", "a=\(String(repeating: "v", count: 256))",
            (0..<32).map { "k\($0)=1" }.joined(separator: ","),
        ]
    )
    func keepsValidState(_ state: String) {
        #expect(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: state)?.traceState == state)
    }

    @Test(
        arguments: [
            "", ",", " ", "a", "=1", "a=", "A=1", "0a=1", "a=1,a=2", "a=1=2", "a=é", "é=1", "a b=1", "a@=1", "@a=1",
            "a@b@c=1", "a@0b=1", "a=1\r\nX: y", "a=\u{7F}", "\(String(repeating: "a", count: 257))=1",
            "a=\(String(repeating: "v", count: 257))", "\(String(repeating: "a", count: 242))@b=1",
            "a@\(String(repeating: "b", count: 15))=1", (0..<33).map { "k\($0)=1" }.joined(separator: ","),
        ]
    )
    func dropsInvalidState(_ state: String) {
        let context = TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: state)
        #expect(context != nil)
        #expect(context?.traceState == nil)
    }

    @Test func rejectsZeroIDs() {
        #expect(TraceContext.TraceID(high: 0, low: 0) == nil)
        #expect(TraceContext.TraceID(high: 0, low: 1)?.description == "00000000000000000000000000000001")
        #expect(TraceContext.SpanID(0) == nil)
    }
}
