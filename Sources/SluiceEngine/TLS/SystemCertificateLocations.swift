#if os(Linux)
import SluiceFoundation
import CSSL
import Glibc
import SluiceHTTP

/// The file and the directories that contain the system's trusted authorities.
///
/// Their locations are those of OpenSSL: `SSL_CERT_FILE` and `SSL_CERT_DIR`, or its defaults. If neither variable is set and the file is
/// readable, the directory is not used, because systems keep the same certificates in both.
struct SystemCertificateLocations: CustomStringConvertible {
    /// The certificate files of other systems than Debian, in case OpenSSL was built with other locations.
    private static let knownFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
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
            file: environment(X509_get_default_cert_file_env()),
            directory: environment(X509_get_default_cert_dir_env())
        )
    }

    /// Creates the locations from the values of `SSL_CERT_FILE` and `SSL_CERT_DIR`, which are nil if they are not set.
    init(file: String?, directory: String?) {
        let standard = X509_get_default_cert_file().map { [String(cString: $0)] } ?? []
        files = file.map { [$0] } ?? standard + SystemCertificateLocations.knownFiles
        let standardDirectory = X509_get_default_cert_dir().map { String(cString: $0) } ?? ""
        directories = (directory ?? standardDirectory).split(separator: ":").map(String.init)
        readsDirectoriesToo = file != nil || directory != nil
    }

    var description: String { (files + directories).joined(separator: ", ") }

    /// Returns the certificates in DER without duplicates. Empty if there are none.
    func read() -> [[UInt8]] {
        var found: [[UInt8]] = []
        for file in files {
            found = SystemCertificateLocations.certificates(in: file)
            if !found.isEmpty { break }
        }
        guard readsDirectoriesToo || found.isEmpty else { return found }
        var known = Set(found)
        for path in directories.flatMap(SystemCertificateLocations.hashedFiles) {
            for certificate in SystemCertificateLocations.certificates(in: path)
            where known.insert(certificate).inserted {
                found.append(certificate)
            }
        }
        return found
    }

    /// Returns the files of a directory that are named by a subject hash, such as `2c11d503.0`. OpenSSL uses no other files.
    private static func hashedFiles(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 8, parts[0].allSatisfy(\.isHexDigit), UInt16(parts[1]) != nil
            else { continue }
            paths.append("\(directory)/\(name)")
        }
        return paths.sorted()
    }

    private static func certificates(in path: String) -> [[UInt8]] {
        guard let file = try? CertificateFile(path) else { return [] }
        return PEMCertificates.contents(of: file.contents)
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
#endif
