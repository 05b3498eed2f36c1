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
        try promise(CacheDirective.all(in: written) == whole, "Directives are read as others.")
        try promise(CacheDirective.all(in: [written.joined(separator: ", ")]) == whole, "A list is read as another.")
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
        for limit in limits where before[keyPath: limit] != nil {
            let (old, new) = (before[keyPath: limit] ?? 0, after[keyPath: limit] ?? .infinity)
            try promise(new <= old, "A response may be used for longer.")
        }
        let restrictions = [
            \ResponseDirectives.isNoStore, \.isNoCache, \.mustRevalidate, \.mustUnderstand, \.isPrivate,
        ]
        for restriction in restrictions {
            try promise(!before[keyPath: restriction] || after[keyPath: restriction], "A restriction is gone.")
        }
        try promise(after.noCacheFields.starts(with: before.noCacheFields), "A field may be used that may not.")
        for limit in limits { try promise((after[keyPath: limit] ?? 0) >= 0, "A time is less than none.") }
    }

    private static func checkRequest(_ fewer: HTTPHeaders, _ more: HTTPHeaders) throws {
        let (before, after) = (RequestDirectives(fewer), RequestDirectives(more))
        for limit in [\RequestDirectives.maxAge, \.maxStale, \.staleIfError] where before[keyPath: limit] != nil {
            let (old, new) = (before[keyPath: limit] ?? 0, after[keyPath: limit] ?? .infinity)
            try promise(new <= old, "A request takes what is older.")
        }
        try promise((after.minFresh ?? 0) >= (before.minFresh ?? 0), "A request takes what is less fresh.")
        for restriction in [\RequestDirectives.isNoStore, \.isNoCache, \.isOnlyIfCached] {
            try promise(!before[keyPath: restriction] || after[keyPath: restriction], "A restriction is gone.")
        }
    }

    /// Parses `Vary` lines. Their order does not matter, and normalized field values stay the same.
    static let vary = FuzzTarget("vary") { bytes in
        var input = FuzzInput(bytes)
        let lines = input.lines()
        let vary = VaryField(HTTPHeaders(lines.map { (.vary, $0) }))
        try promise(vary == VaryField(HTTPHeaders(lines.reversed().map { (.vary, $0) })), "The order of lines counts.")
        if case .fields(let names) = vary {
            for name in names { try checkToken(name) }
            try promise(names == Set(names).sorted(), "Names are not in order.")
            try promise(vary == VaryField([.vary: names.joined(separator: ",")]), "Names are read as others.")
        }
        // An unterminated quoted string would end in another line.
        guard lines.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "\"")) }) else { return }
        for name in ["accept", "accept-encoding", "accept-language"] {
            let normal = SelectingField.normalized(lines.map { FieldValue(bytes: Array($0.utf8)) }, of: name)
            let again = SelectingField.normalized([FieldValue(bytes: normal)], of: name)
            try promise(again == normal, "\(name) is brought to another form twice.")
        }
    }

    /// Parses a `Range`, and a length in the next line. Then parses a `Content-Range`.
    static let range = FuzzTarget("range") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let length = Int64(input.line().utf8.reduce(UInt32(0)) { $0 &* 10 &+ UInt32($1 & 15) })
        if case .bytes(let range) = ByteRangeRequest(text)?.extent(of: length) {
            try promise(!range.isEmpty && range.upperBound <= length, "A range lies behind the end.")
        }
        for text in [text, input.line()] {
            guard let range = ContentRange(text) else { continue }
            let span = range.range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
            let again = ContentRange("bytes \(span)/\(range.length.map { "\($0)" } ?? "*")")
            try promise(again == range, "A Content-Range is read as another.")
            try promise((range.range?.upperBound ?? 0) <= range.length ?? .max, "A range lies behind the end.")
        }
    }
}
