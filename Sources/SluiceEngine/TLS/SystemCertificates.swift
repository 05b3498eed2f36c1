#if os(Linux)
import CSSL
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The authorities that the system trusts, read once per process.
///
/// OpenSSL 3.0 takes 0.8 ms to parse one certificate, so parsing the 140 certificates of a typical system would delay the first request by
/// 110 ms. The certificates are therefore only indexed by subject. A certificate is parsed when a chain leads to it.
final class SystemCertificates: Sendable {
    private let certificates: [[UInt8]]
    private let subjects: [DistinguishedNameKey: [Int]]
    /// The X509_STORE of contexts that trust only the system's authorities. It is never freed.
    private let sharedStore = Locked<UInt>(0)

    /// The certificates from the first attempt to read them, or nil if it failed.
    private static let first = try? SystemCertificates()
    /// The certificates from a later attempt, or nil if the first one succeeded or all have failed.
    private static let later = Locked<SystemCertificates?>(nil)

    /// Returns the shared instance. Reads files on the first call, and again after a failure.
    static func shared() throws(TLSFailure) -> SystemCertificates {
        if let first { return first }
        if let later = later.withLock({ $0 }) { return later }
        let certificates = try SystemCertificates()
        later.withLock { $0 = certificates }
        return certificates
    }

    private convenience init() throws(TLSFailure) {
        let locations = SystemCertificateLocations()
        let certificates: [[UInt8]]
        do throws(CertificateFile.Unreadable) {
            certificates = try locations.read()
        } catch {
            throw TLSFailure(.authoritiesUnreadable, detail: error.reason)
        }
        guard !certificates.isEmpty else {
            throw TLSFailure(
                .authoritiesUnreadable,
                detail: "there are no certificates in \(locations.description); install the package ca-certificates"
            )
        }
        self.init(certificates)
    }

    /// Indexes DER-encoded certificates. Invalid ones are omitted.
    init(_ candidates: [[UInt8]]) {
        var certificates: [[UInt8]] = []
        var subjects: [DistinguishedNameKey: [Int]] = [:]
        for candidate in candidates {
            guard let subject = DERReader.subject(ofCertificate: candidate[...]) else { continue }
            subjects[DistinguishedNameKey(subject), default: []].append(certificates.count)
            certificates.append(candidate)
        }
        self.certificates = certificates
        self.subjects = subjects
    }

    var count: Int { certificates.count }

    /// Returns the shared store with a new reference for the caller, or nil if memory is short.
    func store() -> OpaquePointer? {
        let address = sharedStore.withLock { address in
            if address == 0 { address = UInt(bitPattern: makeStore()) }
            return address
        }
        guard let store = OpaquePointer(bitPattern: address), openSSL.X509_STORE_up_ref(store) == 1 else { return nil }
        return store
    }

    /// Creates a separate store, to which other certificates can be added.
    func makeStore() -> OpaquePointer? {
        guard let method = OpaquePointer(bitPattern: SystemCertificates.lookupMethod),
            let store = openSSL.X509_STORE_new()
        else {
            return nil
        }
        guard let lookup = openSSL.X509_STORE_add_lookup(store, method) else {
            openSSL.X509_STORE_free(store)
            return nil
        }
        // Released when the store is freed.
        _ = openSSL.X509_LOOKUP_set_method_data(lookup, Unmanaged.passRetained(self).toOpaque())
        return store
    }

    /// An X509_LOOKUP_METHOD, never freed.
    private static let lookupMethod: UInt = {
        guard let method = openSSL.X509_LOOKUP_meth_new("sluice system certificates") else { return 0 }
        let isSet = openSSL.X509_LOOKUP_meth_set_get_by_subject(method) { lookup, type, name, result in
            guard type == X509_LU_X509, let lookup, let name, let data = openSSL.X509_LOOKUP_get_method_data(lookup)
            else {
                return 0
            }
            let certificates = Unmanaged<SystemCertificates>.fromOpaque(data).takeUnretainedValue()
            return certificates.addAll(named: name, to: lookup) ? sluice_tls_hand_out(lookup, name, result) : 0
        }
        let isFreed = openSSL.X509_LOOKUP_meth_set_free(method) { lookup in
            guard let data = openSSL.X509_LOOKUP_get_method_data(lookup) else { return }
            Unmanaged<SystemCertificates>.fromOpaque(data).release()
        }
        return isSet == 1 && isFreed == 1 ? UInt(bitPattern: method) : 0
    }()

    /// Adds the certificates with a subject to the store of a look-up. Returns false if there is none.
    private func addAll(named name: OpaquePointer, to lookup: OpaquePointer) -> Bool {
        var start: UnsafePointer<UInt8>?
        var count = 0
        guard openSSL.X509_NAME_get0_der(name, &start, &count) == 1, let start else { return false }
        let key = DistinguishedNameKey(UnsafeBufferPointer(start: start, count: count))
        var hasAdded = false
        for candidate in subjects[key] ?? [] {
            let certificate = certificates[candidate].withUnsafeBufferPointer { bytes in
                var position = bytes.baseAddress
                return openSSL.d2i_X509_AUX(nil, &position, bytes.count)
            }
            guard let certificate else { continue }
            if openSSL.X509_NAME_cmp(openSSL.X509_get_subject_name(certificate), name) == 0,
                openSSL.X509_STORE_add_cert(openSSL.X509_LOOKUP_get_store(lookup), certificate) == 1
            {
                hasAdded = true
            }
            openSSL.X509_free(certificate)
        }
        return hasAdded
    }
}

// MARK: - System certificate locations

/// The file and the directories that contain the system's trusted authorities.
///
/// Their locations are those of OpenSSL: `SSL_CERT_FILE` and `SSL_CERT_DIR`, or its defaults. If neither variable is set and the file is
/// readable, the directory is not used, because systems keep the same certificates in both.
struct SystemCertificateLocations: CustomStringConvertible {
    /// The certificate files of other systems than Debian, in case OpenSSL was built with other locations.
    private static let knownFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    ]

    let files: [String]
    let directories: [String]
    /// True if the directories are read although a file has certificates.
    private let readsDirectoriesToo: Bool

    /// Creates the locations from the environment and the defaults of OpenSSL.
    init() {
        let environment = { (name: UnsafePointer<CChar>?) -> String? in
            name.flatMap(sluice_tls_environment).map { String(cString: $0) }
        }
        self.init(
            file: environment(openSSL.X509_get_default_cert_file_env()),
            directory: environment(openSSL.X509_get_default_cert_dir_env())
        )
    }

    /// Creates the locations from the values of `SSL_CERT_FILE` and `SSL_CERT_DIR`, which are nil if they are not set.
    init(file: String?, directory: String?) {
        let standard = openSSL.X509_get_default_cert_file().map { [String(cString: $0)] } ?? []
        files = file.map { [$0] } ?? standard + SystemCertificateLocations.knownFiles
        let standardDirectory = openSSL.X509_get_default_cert_dir().map { String(cString: $0) } ?? ""
        directories = (directory ?? standardDirectory).split(separator: ":").map(String.init)
        readsDirectoriesToo = file != nil || directory != nil
    }

    var description: String { (files + directories).joined(separator: ", ") }

    /// Returns the certificates in DER without duplicates. Empty if there are none.
    ///
    /// - Throws: An error that may soon end. A file that has no certificates or does not exist is no error.
    func read() throws(CertificateFile.Unreadable) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for file in files where found.isEmpty { found = try SystemCertificateLocations.certificates(in: file) }
        guard readsDirectoriesToo || found.isEmpty else { return found }
        var known = Set(found)
        for directory in directories {
            for path in try SystemCertificateLocations.hashedFiles(of: directory) {
                for certificate in try SystemCertificateLocations.certificates(in: path)
                where known.insert(certificate).inserted {
                    found.append(certificate)
                }
            }
        }
        return found
    }

    /// Returns the files of a directory that are named by a subject hash, such as `2c11d503.0`. OpenSSL uses no other files.
    private static func hashedFiles(of directory: String) throws(CertificateFile.Unreadable) -> [String] {
        guard let stream = opendir(directory) else {
            let error = CertificateFile.unreadable(directory, errno)
            if error.isTransient { throw error }
            return []
        }
        defer { closedir(stream) }
        var paths: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 8, parts[0].allSatisfy(\.isHexDigit), UInt16(parts[1]) != nil
            else { continue }
            paths.append("\(directory)/\(name)")
        }
        let error = CertificateFile.unreadable(directory, errno)
        if error.isTransient { throw error }
        return paths.sorted()
    }

    private static func certificates(in path: String) throws(CertificateFile.Unreadable) -> [[UInt8]] {
        do throws(CertificateFile.Unreadable) {
            return PEMCertificates.contents(of: try CertificateFile(path).contents)
        } catch {
            if error.isTransient { throw error }
            return []
        }
    }
}

/// Decodes the certificates of a PEM text (RFC 7468) without parsing them.
enum PEMCertificates {
    private static let labels: Set = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]

    /// Returns the certificates in DER. A block with another label or with invalid Base64 is omitted.
    static func contents(of text: [UInt8]) -> [[UInt8]] {
        let dashes = Array("-----".utf8)
        var certificates: [[UInt8]] = []
        var begin: (label: String, start: Int)?
        var lineStart = 0
        while lineStart < text.count {
            let lineEnd = text[lineStart...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            defer { lineStart = lineEnd + 1 }
            guard text[lineStart] == dashes[0], text[lineStart..<lineEnd].starts(with: dashes) else { continue }
            let boundary =
                String(decoding: text[lineStart..<lineEnd], as: UTF8.self)
                .split(whereSeparator: { $0 == "-" || $0 == "\r" }).first ?? ""
            if boundary.hasPrefix("BEGIN ") {
                begin = (String(boundary.dropFirst(6)), min(lineEnd + 1, text.count))
            } else if boundary.hasPrefix("END "), let (label, start) = begin {
                begin = nil
                guard labels.contains(label), boundary.dropFirst(4) == label else { continue }
                let encoded = Data(text[start..<lineStart])
                if let bytes = Data(base64Encoded: encoded, options: .ignoreUnknownCharacters) {
                    certificates.append(Array(bytes))
                }
            }
        }
        return certificates
    }
}

// MARK: - Distinguished name

/// A hash key for distinguished names, computed without OpenSSL's parser.
///
/// The key contains the letters and digits of all values in lower case. Names that are equal according to RFC 5280 §7.1 have the same key.
/// Names with the same key may still differ, so a match is only a candidate.
struct DistinguishedNameKey: Hashable {
    private let text: [UInt8]

    /// Creates the key of a DER-encoded name.
    init(_ name: some Collection<UInt8>) {
        var reader = DERReader(Array(name)[...])
        var text: [UInt8] = []
        if let sequence = reader.next() {
            DistinguishedNameKey.collect(sequence.contents, into: &text, depth: 0)
        }
        self.text = text
    }

    private static func collect(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8], depth: Int) {
        var reader = DERReader(bytes)
        while let element = reader.next() {
            switch element.tag {
            case 0x30, 0x31:
                if depth < 4 { collect(element.contents, into: &text, depth: depth + 1) }
            // UTF8String, NumericString, PrintableString, TeletexString, IA5String and VisibleString.
            case 0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A:
                appendCharacters(of: element.contents, width: 1, to: &text)
            // BMPString and UniversalString, whose values may equal those of the other types.
            case 0x1E: appendCharacters(of: element.contents, width: 2, to: &text)
            case 0x1C: appendCharacters(of: element.contents, width: 4, to: &text)
            // The type of an attribute, and values that only equal those of the same type.
            default: continue
            }
        }
    }

    private static func appendCharacters(of bytes: ArraySlice<UInt8>, width: Int, to text: inout [UInt8]) {
        for start in stride(from: bytes.startIndex, through: bytes.endIndex - width, by: width) {
            let character = bytes[start..<start + width]
            guard let last = character.last, last.isLetter || last.isDigit,
                character.dropLast().allSatisfy({ $0 == 0 })
            else { continue }
            text.append(last | 0x20)
        }
    }
}

/// A reader for the elements of a DER encoding (X.690 §8.1), one after another.
struct DERReader {
    /// The tag and the contents of an element.
    struct Element {
        let tag: UInt8
        let contents: ArraySlice<UInt8>
        /// Tag, length and contents.
        let bytes: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Returns the next element, or nil at the end or if the bytes are not valid DER.
    mutating func next() -> Element? {
        guard let tag = rest.first, tag & 0x1F != 0x1F, rest.count >= 2 else { return nil }
        var position = rest.startIndex + 2
        var count = Int(rest[rest.startIndex + 1])
        if count >= 0x80 {
            let digits = count - 0x80
            guard (1...4).contains(digits), rest.endIndex - position >= digits else { return nil }
            count = rest[position..<(position + digits)].reduce(0) { $0 << 8 | Int($1) }
            position += digits
        }
        guard rest.endIndex - position >= count else { return nil }
        let end = position + count
        let element = Element(tag: tag, contents: rest[position..<end], bytes: rest[rest.startIndex..<end])
        rest = rest[end...]
        return element
    }

    /// Returns the subject of a DER-encoded certificate (RFC 5280 §4.1).
    static func subject(ofCertificate certificate: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var outer = DERReader(certificate)
        guard let sequence = outer.next(), sequence.tag == 0x30 else { return nil }
        var inner = DERReader(sequence.contents)
        guard let body = inner.next(), body.tag == 0x30 else { return nil }
        var fields = DERReader(body.contents)
        var field = fields.next()
        // The version comes first, unless it is 1.
        if field?.tag == 0xA0 { field = fields.next() }
        // Serial number, signature algorithm, issuer and validity.
        for _ in 0..<4 { field = fields.next() }
        guard let field, field.tag == 0x30 else { return nil }
        return field.bytes
    }
}
#endif
