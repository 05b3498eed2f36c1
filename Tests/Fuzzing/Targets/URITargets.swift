@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON
@testable import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FuzzTarget {
    /// Expands a template with the values in the next lines. The result is valid in a URL, and no value escapes its place.
    static let uriTemplate = FuzzTarget("uri-template") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let values = input.lines()
        var variables: Parameters = ["list": values, "empty": ""]
        if let first = values.first { variables["a"] = first }
        var members = Parameters()
        for name in values { members[name] = text }
        variables["keys"] = members
        let template: URITemplate
        do throws(URITemplateFailure) {
            template = try URITemplate(parsing: text)
        } catch {
            try require((0...text.unicodeScalars.count).contains(error.position), "An error is beyond the end.")
            return
        }
        if let expanded = try? template.expand(variables) {
            try require(
                expanded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
                "\(expanded) contains characters that are invalid in a URL."
            )
            let bytes = Array(expanded.utf8)
            for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
                try require(
                    PercentEncoding.triplet(in: bytes[...], at: index) != nil,
                    "\(expanded) has an incomplete triplet."
                )
            }
            if !text.utf8.contains(UInt8(ascii: "{")) {
                try require(
                    try URITemplate(parsing: expanded).expand().isSame(as: expanded),
                    "Expanding a literal is not idempotent."
                )
            }
        }
        let value = values.first ?? ""
        let encoded = try URITemplate("{a}").expand(["a": value])
        let isPlain = encoded.utf8.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "%") }
        try require(isPlain, "\(encoded) has more than one segment.")
        try require(
            FormItems.decoded(encoded, plusIsBlank: false).isSame(as: value),
            "\(encoded) decodes to another value."
        )
    }

    /// Parses a reference, and a base in the next line. The parts rebuild the whole, and a request goes to the host that the URL
    /// names.
    static let uriReference = FuzzTarget("uri-reference") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let reference = URIReference(text)
        try require(reference.description.isSame(as: text), "The parts form \(reference).")
        if let location = try? RequestLocation(parsing: text) { try check(location) }
        let bases = [input.line(), "http://a.example/b/c/d;p?q"].compactMap { try? RequestLocation(parsing: $0) }
        for base in bases {
            guard let location = try? base.resolving(text) else { continue }
            try check(location)
            let isDotted = DotSegments.removing(from: location.path) != location.path
            try require(!isDotted || reference.path.isEmpty, "\(location.path) has dot segments.")
            if reference.scheme == nil, reference.authority == nil {
                try require(location.authority == base.authority, "A relative path changes the host.")
            }
        }
    }

    private static func check(_ location: RequestLocation) throws {
        let url = "\(location.scheme)://\(location.authority)\(location.target)"
        try require(
            url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
            "\(url) contains characters that are invalid in a request."
        )
        var again = try RequestLocation(parsing: url)
        again.path = again.path == "/" ? location.path : again.path
        try require(location.path.isEmpty || again == location, "\(url) does not round-trip.")
        try require(
            location.path.isEmpty || location.path.utf8.first == UInt8(ascii: "/"),
            "The path of \(url) does not start with a slash."
        )
        try require(Authority.problem(in: location.authority) == nil, "\(url) has an invalid host.")
        try check(url, against: location)
        try checkOrigin(of: location)
    }

    /// Checks the parts of a URL against a search for their delimiters in order (RFC 3986 Appendix B).
    private static func check(_ url: String, against location: RequestLocation) throws {
        func end(_ part: ArraySlice<UInt8>, _ delimiters: String) -> Int {
            part.firstIndex { delimiters.utf8.contains($0) } ?? part.endIndex
        }
        let bytes = Array(url.utf8)[...]
        let scheme = bytes[..<end(bytes, ":/?#")]
        try require(bytes[scheme.endIndex...].starts(with: "://".utf8), "\(url) has no authority.")
        var rest = bytes[scheme.endIndex...].dropFirst(3)
        let authority = rest[..<end(rest, "/?#")]
        rest = rest[authority.endIndex...]
        let path = rest[..<end(rest, "?#")]
        rest = rest[path.endIndex...]
        try require(scheme.elementsEqual(location.scheme.utf8), "\(url) has another scheme.")
        try require(authority.elementsEqual(location.authority.utf8), "\(url) has another authority.")
        let own = location.path.isEmpty ? "/" : location.path
        try require(path.elementsEqual(own.utf8), "\(url) has another path.")
        let query = rest.first == UInt8(ascii: "?") ? rest.dropFirst() : nil
        try require(query.map { Array($0) } == location.query.map { Array($0.utf8) }, "\(url) has another query.")
    }

    /// Checks that the validated host is the host of the connection.
    private static func checkOrigin(of location: RequestLocation) throws {
        let written = location.authority.lowercased()
        let colon = written.utf8.lastIndex(of: UInt8(ascii: ":")) ?? written.endIndex
        // The last colon of an IPv6 address may be inside the brackets.
        let isPort = !written[colon...].contains("]")
        let host = isPort ? written[..<colon] : written[...]
        let usual = location.scheme == "https" ? 443 : 80
        let port = isPort && colon < written.endIndex ? Int(written[colon...].dropFirst()) : usual
        let origin = HTTPOrigin(scheme: location.scheme, authority: location.authority)
        let own = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
        try require(own.utf8.elementsEqual(host.utf8), "\(written) becomes the host \(origin.host).")
        try require(origin.port == port, "\(written) becomes the port \(origin.port).")
    }

    /// Parses an IP address. The system accepts the same texts with the same bytes, and a written address reads back the same.
    static let address = FuzzTarget("ip-address") { bytes in
        let text = Array(bytes)
        guard !text.contains(0) else { return }
        let address = IPAddress(String(decoding: text, as: UTF8.self))
        let characters = (text + [0]).map { CChar(bitPattern: $0) }
        var six = [UInt8](repeating: 0, count: 16)
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET6, characters, &six) == 1 {
            try require(address?.bytes == six, "The system reads \(six).")
        } else if inet_pton(AF_INET, characters, &four) == 1 {
            try require(address?.bytes == four, "The system reads \(four).")
        } else {
            try require(address == nil, "The system rejects the address.")
        }
        guard let address else { return }
        try require(IPAddress(address.description) == address, "\(address) does not round-trip.")
        try require(IPNetwork("\(address)")?.contains(address) == true, "\(address) is not in its own block.")
        let isAllowed = AddressPolicy.publicOnly.allows(address)
        try require(isAllowed == address.isPublic, "\(address) is allowed: \(isAllowed).")
    }

    /// Normalizes a path or a part of a query. Removing dot segments and encoding are idempotent, and all decoders agree.
    static let path = FuzzTarget("path") { bytes in
        let text = FuzzInput(bytes).text
        let completed = PercentEncoding.completed(text)
        try require(PercentEncoding.completed(completed).isSame(as: completed), "Encoding is not idempotent.")
        let path = DotSegments.removing(from: text)
        try require(DotSegments.removing(from: path).isSame(as: path), "\(path) still has dot segments.")
        let isRooted = text.utf8.first == UInt8(ascii: "/")
        try require(!isRooted || path.utf8.first == UInt8(ascii: "/"), "\(path) does not start with a slash.")
        try require(path.utf8.count <= text.utf8.count, "Removing dot segments makes \(path) longer.")
        var encoded: [UInt8] = []
        PercentEncoding.append(component: text, to: &encoded)
        let decoded = PercentEncoding.decoded(encoded, plusIsSpace: true)
        try require(decoded == Array(text.utf8), "A component does not round-trip.")
        let strictly = PercentEncoding.strictlyDecoded(text.utf8)
        let leniently = PercentEncoding.decoded(text.utf8, plusIsSpace: false)
        try require(strictly == nil || strictly == leniently, "The strict and the lenient decoder disagree.")
    }
}
