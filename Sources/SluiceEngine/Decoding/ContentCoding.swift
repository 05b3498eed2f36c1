#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A content coding that can be removed (RFC 9110 §8.4.1).
package enum ContentCoding: Sendable, Equatable {
    /// RFC 1952.
    case gzip
    /// RFC 1950, or RFC 1951 without the zlib format, which some servers send under this name.
    case deflate
    /// Brotli, RFC 7932.
    case br
    /// RFC 8878, with a window of at most 8 MiB (RFC 9659).
    case zstd

    /// Creates the coding for a registered name, ignoring case. Returns nil for any other name, including `identity`.
    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .br
        case "zstd": self = .zstd
        default: return nil
        }
    }
}

extension ContentDecoder {
    /// The content codings of a body.
    package enum Plan: Sendable, Equatable {
        /// No coding, or only `identity`.
        case identity
        /// One or two codings in the order of the field, in which they were applied. The last one is removed first.
        case decode([ContentCoding])
        /// At least one unknown coding. The body is left encoded.
        case unknown
        /// More than two codings, known or not.
        case tooMany
    }

    /// The value of `Accept-Encoding` with all supported codings.
    package static var acceptEncoding: StaticString { "deflate, gzip, br, zstd" }

    private static var maximumCodings: Int { 2 }

    /// Parses all `Content-Encoding` field lines as one list (RFC 9110 §8.4). Empty elements are ignored (§5.6.1.2).
    package static func plan(for headers: HTTPHeaders) -> Plan {
        guard headers.contains(.contentEncoding) else { return .identity }
        var codings: [ContentCoding] = []
        var count = 0
        for line in headers.values(for: .contentEncoding) {
            for element in line.utf8.split(separator: UInt8(ascii: ",")) {
                guard let name = trimmed(element), name.lowercased() != "identity" else { continue }
                count += 1
                if count > maximumCodings { return .tooMany }
                if let coding = ContentCoding(name) { codings.append(coding) }
            }
        }
        if count == 0 { return .identity }
        return codings.count == count ? .decode(codings) : .unknown
    }

    /// Returns an element without surrounding white space, or nil if it is empty.
    private static func trimmed(_ element: Substring.UTF8View) -> Substring? {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let start = element.firstIndex(where: { !isBlank($0) }),
            let end = element.lastIndex(where: { !isBlank($0) })
        else { return nil }
        return Substring(element[start...end])
    }
}
#endif
