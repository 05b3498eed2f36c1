@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses a `Content-Type`. It survives writing and reading, and so does any text as a parameter.
    static let contentType = FuzzTarget("content-type") { bytes in
        let text = FuzzInput(bytes).text
        if let type = ContentType(text) {
            for word in [type.type, type.subtype] + type.parameters.map(\.name) { try checkToken(word) }
            try require(
                Set(type.parameters.map(\.name)).count == type.parameters.count,
                "A parameter name is repeated."
            )
            try require(ContentType(type.description) == type, "\(type) does not round-trip.")
        }
        let isText = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }
        let read = ContentType("a/b; x=\(quoted(text)) ; y=z")
        try require(read?["x"] == (isText ? text : nil), "A quoted value does not round-trip.")
        try require(read?["y"] == "z", "The parameter after a quoted value is lost.")
    }

    /// Parses a `Content-Disposition`. Any text survives as a file name, in both forms.
    static let contentDisposition = FuzzTarget("content-disposition") { bytes in
        let text = FuzzInput(bytes).text
        if let disposition = ContentDisposition(text) {
            try checkToken(disposition.type)
            try require(disposition.fileName?.isEmpty != true, "A name is empty.")
        }
        guard !text.isEmpty else { return }
        let plain = ContentDisposition("attachment; filename=\(quoted(text))")?.fileName
        try require(plain?.isSame(as: text) == true, "A quoted name does not round-trip.")
        let extended = ContentDisposition("attachment; filename=no; FileName*=utf-8'en'\(percentEncoded(text))")?
            .fileName
        try require(extended?.isSame(as: text) == true, "An encoded name does not round-trip.")
    }

    /// Converts a suggested file name to a single path component that is valid on every system.
    static let fileName = FuzzTarget("file-name") { bytes in
        let name = SafeFileName(FuzzInput(bytes).text).value
        for value in [name, FileNameParts.numbered(name, 2), FileNameParts.numbered(name, .max)] {
            try require((1...255).contains(value.utf8.count), "A name has \(value.utf8.count) bytes.")
            try require(
                !value.utf8.contains { $0 < 0x20 || "/\\<>:\"|?*".utf8.contains($0) },
                "A name contains a forbidden character."
            )
            try require(value.utf8.first != UInt8(ascii: "."), "A name starts with a dot.")
            try require(
                value.utf8.last != UInt8(ascii: ".") && value.utf8.last != 0x20,
                "A name ends with a dot or a space."
            )
            try require(!FileNameParts(value[...]).isDevice, "A name is a device name.")
        }
        try require(SafeFileName(name).value == name, "Making a name safe is not idempotent.")
    }

    /// Parses a `Link`. Its values survive writing and reading.
    static let link = FuzzTarget("link") { bytes in
        var input = FuzzInput(bytes)
        let header = LinkHeader(fields: input.lines())
        let written = header.links.map { link in
            link.attributes.reduce("<\(link.target)>") { "\($0); \($1.name)=\(quoted($1.value))" }
        }
        try require(LinkHeader(written.joined(separator: ", ")) == header, "Links do not round-trip.")
        for link in header.links {
            for relation in link.relations {
                try require(header[relation] != nil || link.anchor != nil, "A relation is missing.")
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
        try require(read == challenges, "Challenges do not round-trip: \(written)")
    }

    /// Parses a `traceparent` line and a `tracestate` line. They survive writing and reading, and no harmful text is passed on.
    static let trace = FuzzTarget("trace") { bytes in
        var input = FuzzInput(bytes)
        let parent = input.line()
        let state = input.text
        if TraceState.isValid(state) {
            try require(
                state.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 9 },
                "A valid state has invisible characters."
            )
            try require(TraceState.isValid(" \(state), "), "Spaces make a state invalid.")
        }
        guard let context = TraceContext(traceparent: parent, tracestate: state) else { return }
        try require(context.traceState == (TraceState.isValid(state) ? state : nil), "The context has another state.")
        let again = TraceContext(traceparent: context.traceparent, tracestate: context.traceState)
        try require(again == context, "A context does not round-trip.")
    }

    /// Parses cookies of requests and responses. They have names, and redaction removes their values.
    static let cookie = FuzzTarget("cookie") { bytes in
        let text = FuzzInput(bytes).text
        let sent = HAR.Cookie.sent(text, isHidden: false)
        let again = HAR.Cookie.sent(sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; "), isHidden: false)
        try require(sent == again, "Cookies do not round-trip.")
        try require(sent.allSatisfy { !$0.name.isEmpty }, "A cookie has no name.")
        let hidden = HAR.Cookie.sent(text, isHidden: true)
        // A pair without an equals sign is a value, which the name would show.
        try require(
            hidden.count == sent.count
                && zip(hidden, sent).allSatisfy { $0.name == $1.name || $0.name == Redaction.mark && $1.value.isEmpty },
            "Redaction changes the names."
        )
        try require(hidden.allSatisfy { $0.value == Redaction.mark }, "A value is not redacted.")
        let received = Date(timeIntervalSince1970: 0)
        guard let set = HAR.Cookie(set: text, isHidden: false, received: received) else { return }
        try require(!set.name.isEmpty, "A cookie has no name.")
        try require(
            HAR.Cookie(set: text, isHidden: true, received: received)?.value == Redaction.mark,
            "A value is not redacted."
        )
        try require(
            HAR.Cookie(set: "\(set.name)=\(set.value)", isHidden: false, received: received)?.value == set.value,
            "A value does not round-trip."
        )
        try require(set.expires.map { HARDate.date(of: $0) != nil } ?? true, "A date is not ISO 8601.")
    }

    static func checkToken(_ word: String) throws {
        try require(!word.isEmpty && word.utf8.allSatisfy(\.isTokenCharacter), "“\(word)” is not a token.")
        try require(word == word.lowercased(), "“\(word)” has capitals.")
    }
}
