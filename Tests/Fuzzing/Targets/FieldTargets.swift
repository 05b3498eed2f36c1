@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

extension FuzzTarget {
    /// Parses a `Content-Type`. It survives writing and reading, and so does any text as a parameter.
    static let contentType = FuzzTarget("content-type") { bytes in
        let text = FuzzInput(bytes).text
        if let type = ContentType(text) {
            for word in [type.type, type.subtype] + type.parameters.map(\.name) { try checkToken(word) }
            try promise(Set(type.parameters.map(\.name)).count == type.parameters.count, "A name stands twice.")
            try promise(ContentType(type.description) == type, "It is read as another: \(type)")
        }
        let isText = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }
        let read = ContentType("a/b; x=\(quoted(text)) ; y=z")
        try promise(read?["x"] == (isText ? text : nil), "A quoted value is read as another.")
        try promise(read?["y"] == "z", "What follows a quoted value is not read.")
    }

    /// Parses a `Content-Disposition`. Any text survives as a file name, in both forms.
    static let contentDisposition = FuzzTarget("content-disposition") { bytes in
        let text = FuzzInput(bytes).text
        if let disposition = ContentDisposition(text) {
            try checkToken(disposition.type)
            try promise(disposition.fileName?.isEmpty != true, "A name is empty.")
        }
        guard !text.isEmpty else { return }
        let plain = ContentDisposition("attachment; filename=\(quoted(text))")?.fileName
        try promise(plain?.isSame(as: text) == true, "A quoted name is read as another.")
        let extended = ContentDisposition("attachment; filename=no; FileName*=utf-8'en'\(percentEncoded(text))")?
            .fileName
        try promise(extended?.isSame(as: text) == true, "An encoded name is read as another.")
    }

    /// Converts a suggested file name to a single path component that is valid on every system.
    static let fileName = FuzzTarget("file-name") { bytes in
        let name = SafeFileName(FuzzInput(bytes).text)
        for value in [name.value, name.numbered(2), name.numbered(.max)] {
            try promise((1...255).contains(value.utf8.count), "A name has \(value.utf8.count) bytes.")
            try promise(!value.utf8.contains { $0 < 0x20 || "/\\<>:\"|?*".utf8.contains($0) }, "A name is not allowed.")
            try promise(value.utf8.first != UInt8(ascii: "."), "A name is hidden.")
            try promise(value.utf8.last != UInt8(ascii: ".") && value.utf8.last != 0x20, "A name ends in a dot.")
            try promise(!FileNameParts(value[...]).isDevice, "A name is that of a device.")
        }
        try promise(SafeFileName(name.value) == name, "A safe name is made another.")
    }

    /// Parses a `Link`. Its values survive writing and reading.
    static let link = FuzzTarget("link") { bytes in
        var input = FuzzInput(bytes)
        let header = LinkHeader(fields: input.lines())
        let written = header.links.map { link in
            link.parameters.reduce("<\(link.target)>") { "\($0); \($1.name)=\(quoted($1.value))" }
        }
        try promise(LinkHeader(written.joined(separator: ", ")) == header, "Links are read as others.")
        for link in header.links {
            for relation in link.relations {
                try promise(header[relation] != nil || link.anchor != nil, "A relation is not found.")
            }
        }
    }

    /// Parses a `WWW-Authenticate`. Its challenges survive writing and reading.
    static let challenge = FuzzTarget("challenge") { bytes in
        let challenges = AuthenticationChallenge.all(in: FuzzInput(bytes).text)
        let written = challenges.map { challenge in
            let parameters = challenge.parameters.map { "\($0.key)=\(quoted($0.value))" }
            return "\(challenge.scheme) \(parameters.joined(separator: ", "))"
        }
        for challenge in challenges { try checkToken(challenge.scheme) }
        let read = AuthenticationChallenge.all(in: written.joined(separator: ", "))
        try promise(read == challenges, "Challenges are read as others: \(written)")
    }

    /// Parses a `traceparent` line and a `tracestate` line. They survive writing and reading, and no harmful text is passed on.
    static let trace = FuzzTarget("trace") { bytes in
        var input = FuzzInput(bytes)
        let parent = input.line()
        let state = input.text
        if TraceState.isValid(state) {
            try promise(state.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 9 }, "A state is not visible.")
            try promise(TraceState.isValid(" \(state), "), "A state with blanks around it is none.")
        }
        guard let context = TraceContext(traceparent: parent, tracestate: state) else { return }
        try promise(context.traceState == (TraceState.isValid(state) ? state : nil), "A state is another.")
        let again = TraceContext(traceparent: context.traceparent, tracestate: context.traceState)
        try promise(again == context, "A context is read as another.")
    }

    /// Parses cookies of requests and responses. They have names, and redaction removes their values.
    static let cookie = FuzzTarget("cookie") { bytes in
        let text = FuzzInput(bytes).text
        let sent = HAR.Cookie.sent(text, isHidden: false)
        let again = HAR.Cookie.sent(sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; "), isHidden: false)
        try promise(sent == again, "Cookies are read as others.")
        try promise(sent.allSatisfy { !$0.name.isEmpty }, "A cookie has no name.")
        let hidden = HAR.Cookie.sent(text, isHidden: true)
        try promise(hidden.map(\.name) == sent.map(\.name), "Others are hidden.")
        try promise(hidden.allSatisfy { $0.value == Redaction.mark }, "A value is shown.")
        guard let set = HAR.Cookie(set: text, isHidden: false) else { return }
        try promise(!set.name.isEmpty, "A cookie has no name.")
        try promise(HAR.Cookie(set: text, isHidden: true)?.value == Redaction.mark, "A value is shown.")
        try promise(HAR.Cookie(set: "\(set.name)=\(set.value)", isHidden: false)?.value == set.value, "It is another.")
    }

    static func checkToken(_ word: String) throws {
        try promise(!word.isEmpty && word.utf8.allSatisfy(\.isTokenCharacter), "“\(word)” is no token.")
        try promise(word == word.lowercased(), "“\(word)” has capitals.")
    }
}
