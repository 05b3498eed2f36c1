/// A parser, and what must hold whatever it is given: the fuzzer looks for bytes that break it, the tests give it all that are kept.
struct FuzzTarget: Sendable {
    /// What the script and the corpus's folder call it.
    let name: String
    /// Throws a ``BrokenPromise``; what traps is found as well.
    let check: @Sendable (UnsafeRawBufferPointer) throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) {
        self.name = name
        self.check = check
    }

    static let all: [FuzzTarget] = [
        .http1Response, .contentDecoding, .headers, .contentType, .contentDisposition, .fileName, .link,
        .cacheControl,
        .vary, .range,
        .date,
        .quota, .challenge, .tokenResponse, .events, .lines, .jsonLines, .json, .jsonNumber, .jsonPath, .lenient,
        .multipart,
        .redactedBody, .redactedURL, .uriTemplate, .uriReference, .address, .path, .image, .charset, .trace,
        .partJournal,
        .entryHead,
        .keptValue, .har, .cookie, .cassette, .cassetteRedaction, .harArchive, .loopbackRequest,
        .pool, .sharedPool, .http2Session,
    ]
}

/// Something that must always hold, and did not.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless what is promised holds.
func promise(_ isKept: Bool, _ words: @autoclosure () -> String) throws {
    if !isKept { throw BrokenPromise(description: words()) }
}
