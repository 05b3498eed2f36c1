/// A parser and its invariants. The fuzzer searches for bytes that violate them, and the tests run the kept inputs.
struct FuzzTarget: Sendable {
    /// The name in the script and of the corpus folder.
    let name: String
    /// Runs the parser. It throws an ``InvariantViolation`` for a violated invariant; a trap counts as a failure too.
    let check: @Sendable (UnsafeRawBufferPointer) throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) {
        self.name = name
        self.check = check
    }

    static let all: [FuzzTarget] = [
        .http1Response, .contentDecoding, .headers, .contentType, .contentDisposition, .fileName, .link,
        .cacheControl,
        .structuredDictionary, .vary, .range,
        .date,
        .quota, .challenge, .tokenResponse, .events, .lines, .jsonLines, .json, .jsonModel, .jsonNumber, .jsonPath,
        .lenient,
        .multipart,
        .redactedBody, .redactedURL, .uriTemplate, .uriReference, .address, .path, .image, .charset, .trace,
        .partJournal,
        .entryHead,
        .keptValue, .har, .cookie, .cassette, .cassetteRedaction, .harArchive, .loopbackRequest,
        .pool, .sharedPool, .http2Session, .resp,
    ]
}

/// A violated invariant.
struct InvariantViolation: Error, CustomStringConvertible {
    let description: String
}

/// Throws if an invariant is violated.
func require(_ condition: Bool, _ violation: @autoclosure () -> String) throws {
    if !condition { throw InvariantViolation(description: violation()) }
}
