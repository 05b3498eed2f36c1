import SluiceHTTP

@testable import Sluice
@testable import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(CCurl)
import CCurl
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension FuzzTarget {
    /// A template and in the next lines values: it expands to what may stand in a URL, and to nothing that a value alone can escape from.
    static let uriTemplate = FuzzTarget("uri-template") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let values = input.lines()
        var variables: URITemplate.Variables = ["list": .init(values), "empty": ""]
        if let first = values.first { variables["a"] = .string(first) }
        variables["keys"] = .associative(values.map { URITemplate.Value.Pair(name: $0, value: text) })
        let template: URITemplate
        do throws(URITemplateFailure) {
            template = try URITemplate(parsing: text)
        } catch {
            try promise((0...text.unicodeScalars.count).contains(error.position), "A failure is told behind the end.")
            return
        }
        if let expanded = try? template.expand(variables) {
            try promise(expanded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(expanded) can stand in no URL.")
            let bytes = Array(expanded.utf8)
            for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
                try promise(
                    PercentEncoding.triplet(in: bytes[...], at: index) != nil,
                    "\(expanded) has half a triplet."
                )
            }
            if !text.utf8.contains(UInt8(ascii: "{")) {
                try promise(try URITemplate(parsing: expanded).expand().isSame(as: expanded), "It is expanded twice.")
            }
        }
        let value = values.first ?? ""
        let encoded = try URITemplate("{a}").expand(["a": .string(value)])
        let isPlain = encoded.utf8.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "%") }
        try promise(isPlain, "\(encoded) has more than one segment.")
        try promise(FormItems.decoded(encoded, plusIsBlank: false).isSame(as: value), "\(encoded) is another value.")
    }

    /// A reference and in the next line a base: parts make up the whole again, and where a request goes is where libcurl takes it.
    static let uriReference = FuzzTarget("uri-reference") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let reference = URIReference(text)
        try promise(reference.description.isSame(as: text), "Put together it is \(reference).")
        if let location = try? RequestLocation(parsing: text) { try check(location) }
        let bases = [input.line(), "http://a.example/b/c/d;p?q"].compactMap { try? RequestLocation(parsing: $0) }
        for base in bases {
            guard let location = try? base.resolving(text) else { continue }
            try check(location)
            let isDotted = DotSegments.removing(from: location.path) != location.path
            try promise(!isDotted || reference.path.isEmpty, "\(location.path) has dot segments.")
            if reference.scheme == nil, reference.authority == nil {
                try promise(location.authority == base.authority, "A path leads to another host.")
            }
        }
    }

    private static func check(_ location: RequestLocation) throws {
        let url = "\(location.scheme)://\(location.authority)\(location.target)"
        try promise(url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url) can stand in no request.")
        var again = try RequestLocation(parsing: url)
        again.path = again.path == "/" ? location.path : again.path
        try promise(location.path.isEmpty || again == location, "\(url) is read as another.")
        try promise(location.path.isEmpty || location.path.utf8.first == UInt8(ascii: "/"), "\(url) has another host.")
        #if canImport(CCurl)
        try checkAgainstCurl(url, location)
        #endif
    }

    #if canImport(CCurl)
    /// Whoever checks a host before a request must see the one that libcurl will go to.
    private static func checkAgainstCurl(_ url: String, _ location: RequestLocation) throws {
        guard let handle = curl_url() else { return }
        defer { curl_url_cleanup(handle) }
        let result = curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS))
        guard result == CURLUE_OK else {
            // Its limit on the numbers of an old-fashioned address; a request fails then.
            return try promise(
                result == CURLUE_BAD_HOSTNAME || result == CURLUE_BAD_IPV6,
                "\(url): libcurl refuses it."
            )
        }
        func part(_ what: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, what, &text, 0) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        let host = part(CURLUPART_HOST) ?? ""
        let end = location.authority.utf8.lastIndex(of: UInt8(ascii: ":")) ?? location.authority.endIndex
        let isBracketed = location.authority.utf8.first == UInt8(ascii: "[")
        let isNumeric = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        // libcurl writes addresses in one way of many.
        if !isBracketed, !isNumeric {
            let own = location.authority[..<end].lowercased()
            try promise(host.lowercased() == own, "libcurl goes to \(host), not to \(own).")
            let port = location.authority[end...].dropFirst()
            try promise(part(CURLUPART_PORT).flatMap(Int.init) == Int(port), "libcurl goes to another port.")
        }
        try promise(part(CURLUPART_USER) == nil && part(CURLUPART_PASSWORD) == nil, "libcurl sees a user in \(url).")
        try promise(
            (part(CURLUPART_PATH) ?? "/") == (location.path.isEmpty ? "/" : location.path),
            "libcurl asks for another path."
        )
        try promise((part(CURLUPART_QUERY) ?? "") == location.query ?? "", "libcurl asks another query.")
    }
    #endif

    /// An address of either version: one is what the system takes for one, of the same bytes, and is written so that it is read again.
    static let address = FuzzTarget("ip-address") { bytes in
        let text = Array(bytes)
        guard !text.contains(0) else { return }
        let address = IPAddress(String(decoding: text, as: UTF8.self))
        let characters = (text + [0]).map { CChar(bitPattern: $0) }
        var six = [UInt8](repeating: 0, count: 16)
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET6, characters, &six) == 1 {
            try promise(address?.bytes == six, "The system reads \(six).")
        } else if inet_pton(AF_INET, characters, &four) == 1 {
            try promise(address?.bytes == four, "The system reads \(four).")
        } else {
            try promise(address == nil, "The system takes it for none.")
        }
        guard let address else { return }
        try promise(IPAddress(address.description) == address, "\(address) is read as another.")
        try promise(IPNetwork("\(address)")?.contains(address) == true, "\(address) is not in its own block.")
        let isAllowed = AddressPolicy.publicOnly.allows(address)
        try promise(isAllowed == (address.purpose == .global), "\(address.purpose) is allowed: \(isAllowed).")
    }

    /// A path or a part of a query: dot segments and encoding are the same after the second time, and every decoder reads the same.
    static let path = FuzzTarget("path") { bytes in
        let text = FuzzInput(bytes).text
        let completed = PercentEncoding.completed(text)
        try promise(PercentEncoding.completed(completed).isSame(as: completed), "It is encoded twice.")
        let path = DotSegments.removing(from: text)
        try promise(DotSegments.removing(from: path).isSame(as: path), "\(path) has dot segments.")
        let isRooted = text.utf8.first == UInt8(ascii: "/")
        try promise(!isRooted || path.utf8.first == UInt8(ascii: "/"), "\(path) does not begin at the root.")
        try promise(path.utf8.count <= text.utf8.count, "\(path) is longer.")
        var encoded: [UInt8] = []
        PercentEncoding.append(component: text, to: &encoded)
        try promise(PairRedactor.decoded(encoded[...]) == Array(text.utf8), "A component is decoded to another.")
        let decoded = String(decoding: PairRedactor.decoded(Array(text.utf8)[...]), as: UTF8.self)
        try promise(FormItems.decoded(text).isSame(as: decoded), "Two decoders read two texts.")
    }
}
