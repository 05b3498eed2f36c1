import SluiceHTTP
import Testing

@Suite struct HTTPMethodTests {
    /// RFC 9110 §9.2, and RFC 5789 §2 for PATCH.
    @Test(
        arguments: [
            (.get, "GET", true, true), (.head, "HEAD", true, true), (.options, "OPTIONS", true, true),
            (.trace, "TRACE", true, true), (.put, "PUT", false, true), (.delete, "DELETE", false, true),
            (.post, "POST", false, false), (.patch, "PATCH", false, false), ("PURGE", "PURGE", false, false),
            ("get", "get", false, false),
        ] as [(HTTPMethod, String, Bool, Bool)]
    )
    func safetyAndIdempotencyAreThoseOfTheStandard(
        method: HTTPMethod,
        text: String,
        isSafe: Bool,
        isIdempotent: Bool
    ) {
        #expect(method.rawValue == text)
        #expect("\(method)" == text)
        #expect(method.isSafe == isSafe)
        #expect(method.isIdempotent == isIdempotent)
    }

    @Test func methodsAreCaseSensitive() {
        #expect(HTTPMethod(rawValue: "get") != .get)
        #expect(HTTPMethod(rawValue: "GET") == .get)
    }
}
