@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON
@testable import SluiceTesting

extension FuzzTarget {
    /// Parses `Cache-Control` lines. Written directives read back the same, and an added directive never allows more.
    static let cacheControl = FuzzTarget("cache-control") { bytes in
        var input = FuzzInput(bytes)
        let lines = input.lines()
        let directives = CacheDirective.all(in: lines)
        for directive in directives { try checkToken(directive.name) }
        let whole = directives.filter { !$0.isMalformed }
        let written = whole.map { directive in directive.name + (directive.argument.map { "=\(quoted($0))" } ?? "") }
        try require(CacheDirective.all(in: written) == whole, "Directives do not round-trip.")
        try require(
            CacheDirective.all(in: [written.joined(separator: ", ")]) == whole,
            "A list of directives does not round-trip."
        )
        guard lines.count > 1 else { return }
        try checkResponse(fields(lines.dropLast()), fields(lines[...]))
        try checkRequest(fields(lines.dropLast()), fields(lines[...]))
    }

    private static func fields(_ lines: ArraySlice<String>) -> HTTPHeaders {
        HTTPHeaders(lines.map { (.cacheControl, $0) })
    }

    private static func checkResponse(_ fewer: HTTPHeaders, _ more: HTTPHeaders) throws {
        let (before, after) = (ResponseDirectives(fewer), ResponseDirectives(more))
        let limits = [\ResponseDirectives.maxAge, \.staleWhileRevalidate, \.staleIfError]
        for limit in limits + [\.sharedMaxAge] where before[keyPath: limit] != nil {
            let (old, new) = (before[keyPath: limit] ?? 0, after[keyPath: limit] ?? .infinity)
            try require(new <= old, "An added directive raises a limit.")
        }
        let restrictions = [
            \ResponseDirectives.isNoStore, \.isNoCache, \.mustRevalidate, \.mustUnderstand, \.isPrivate,
            \.proxyRevalidate,
        ]
        for restriction in restrictions {
            try require(
                !before[keyPath: restriction] || after[keyPath: restriction],
                "An added directive lifts a restriction."
            )
        }
        try require(
            after.noCacheFields.starts(with: before.noCacheFields)
                && after.privateFields.starts(with: before.privateFields),
            "An added directive lifts the restriction of a field."
        )
        for limit in limits { try require((after[keyPath: limit] ?? 0) >= 0, "A limit is negative.") }
    }

    private static func checkRequest(_ fewer: HTTPHeaders, _ more: HTTPHeaders) throws {
        let (before, after) = (RequestDirectives(fewer), RequestDirectives(more))
        for limit in [\RequestDirectives.maxAge, \.maxStale, \.staleIfError] where before[keyPath: limit] != nil {
            let (old, new) = (before[keyPath: limit] ?? 0, after[keyPath: limit] ?? .infinity)
            try require(new <= old, "An added directive raises a limit.")
        }
        try require((after.minFresh ?? 0) >= (before.minFresh ?? 0), "An added directive lowers min-fresh.")
        for restriction in [\RequestDirectives.isNoStore, \.isNoCache, \.isOnlyIfCached] {
            try require(
                !before[keyPath: restriction] || after[keyPath: restriction],
                "An added directive lifts a restriction."
            )
        }
    }

    /// Parses a dictionary of structured fields. A written dictionary reads back the same.
    static let structuredDictionary = FuzzTarget("structured-dictionary") { bytes in
        var input = FuzzInput(bytes)
        let lines = input.lines().map { FieldValue(bytes: Array($0.utf8)) }
        guard let members = StructuredDictionary(lines)?.members else { return }
        let texts = members.compactMap { key, value -> String? in
            switch value {
            case .boolean(let isTrue): "\(key)=?\(isTrue ? 1 : 0)"
            case .integer(let number): "\(key)=\(number)"
            case .string(let text): "\(key)=\(text.asQuotedString)"
            case .token(let text): "\(key)=\(text)"
            case .other: nil
            }
        }
        let again = StructuredDictionary([FieldValue(bytes: Array(texts.joined(separator: ",\t").utf8))])
        try require(again?.members == members.filter { $0.value != .other }, "A dictionary does not round-trip.")
        for name in members.keys { try checkToken(name) }
    }

    /// Parses `Vary` lines. Their order does not matter, and normalized field values stay the same.
    static let vary = FuzzTarget("vary") { bytes in
        var input = FuzzInput(bytes)
        let lines = input.lines()
        let vary = VaryField(HTTPHeaders(lines.map { (.vary, $0) }))
        try require(
            vary == VaryField(HTTPHeaders(lines.reversed().map { (.vary, $0) })),
            "The order of lines changes the result."
        )
        if case .fields(let names) = vary {
            for name in names { try checkToken(name) }
            try require(names == Set(names).sorted(), "Names are not sorted.")
            try require(vary == VaryField([.vary: names.joined(separator: ",")]), "Names do not round-trip.")
        }
        // An unterminated quoted string would end in another line.
        guard lines.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "\"")) }) else { return }
        for name in ["accept", "accept-encoding", "accept-language"] {
            let normal = SelectingField.normalized(lines.map { FieldValue(bytes: Array($0.utf8)) }, of: name)
            let again = SelectingField.normalized([FieldValue(bytes: normal)], of: name)
            try require(again == normal, "Normalizing \(name) is not idempotent.")
        }
    }

    /// Parses a `Range`, and a length in the next line. Then parses a `Content-Range`.
    static let range = FuzzTarget("range") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let length = Int64(input.line().utf8.reduce(UInt32(0)) { $0 &* 10 &+ UInt32($1 & 15) })
        if case .bytes(let range) = ByteRangeRequest(text)?.extent(of: length) {
            try require(!range.isEmpty && range.upperBound <= length, "A range exceeds the length.")
        }
        for text in [text, input.line()] {
            guard let range = ContentRange(text) else { continue }
            let span = range.range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
            let again = ContentRange("bytes \(span)/\(range.length.map { "\($0)" } ?? "*")")
            try require(again == range, "A Content-Range does not round-trip.")
            try require((range.range?.upperBound ?? 0) <= range.length ?? .max, "A range exceeds the length.")
        }
    }
}
