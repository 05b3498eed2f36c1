#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct SystemCertificatesTests {
    @Test func nameKeysIgnoreCaseSpacesAndStringType() {
        // CN=Some Root, as PrintableString, as UTF8String with different spaces and case, and as BMPString.
        let name = { (tag: UInt8, value: [UInt8]) -> DistinguishedNameKey in
            let type: [UInt8] = [6, 3, 0x55, 4, 3]
            let pair = type + [tag, UInt8(value.count)] + value
            let set = [0x30, UInt8(pair.count)] + pair
            return DistinguishedNameKey([0x30, UInt8(set.count + 2), 0x31, UInt8(set.count)] + set)
        }
        let plain = name(0x13, Array("Some Root".utf8))
        #expect(plain == name(0x0C, Array("some  ROOT ".utf8)))
        #expect(plain != name(0x13, Array("Some Roof".utf8)))
        let wide = name(0x1E, "Some Root".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        #expect(wide == plain)
        let widest = name(0x1C, "some root".unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] })
        #expect(widest == plain)
        // Units whose bytes are letters are other characters.
        #expect(name(0x1E, Array("SomeRoot".utf8)) == name(0x13, []))
        #expect(name(2, Array("Some Root".utf8)) == name(0x13, []))
    }

    @Test(
        arguments: [[], [0x30], [0x30, 0x82], [0x30, 0x85, 1, 1, 1, 1, 1], [0x30, 0x80], [0x30, 3, 0x30, 1, 0xA0]]
            as [[UInt8]]
    )
    func malformedCertificatesHaveNoSubject(_ bytes: [UInt8]) {
        #expect(DERReader.subject(ofCertificate: bytes[...]) == nil)
        #expect(SystemCertificates([bytes]).count == 0)
    }

    @Test func certificatesAreFoundInATextWithOthers() throws {
        let certificates = try TestCertificates.shared.get()
        let parts = [
            Data("# a comment\n".utf8), certificates.root.certificate, certificates.root.key,
            certificates.otherRoot.certificate, Data("-----BEGIN CERTIFICATE-----\nAAAA".utf8),
        ]
        let found = PEMCertificates.contents(of: Array(parts.joined()))
        #expect(found.count == 2)
        for (bytes, certificate) in zip(found, [certificates.root, certificates.otherRoot]) {
            let parsed = try certificate.parsed()
            var der = [UInt8](repeating: 0, count: Int(i2d_X509(parsed, nil)))
            der.withUnsafeMutableBufferPointer { room in
                var start = room.baseAddress
                i2d_X509(parsed, &start)
            }
            X509_free(parsed)
            #expect(bytes == der)
        }
        let windows = certificates.root.certificate.flatMap { $0 == 10 ? [13, 10] : [$0] }
        #expect(PEMCertificates.contents(of: windows) == [found[0]])
    }

    @Test func storeFindsTheIssuerAmongMany() throws {
        let certificates = try TestCertificates.shared.get()
        let all = [certificates.otherRoot, certificates.root, certificates.root]
        let index = SystemCertificates(all.flatMap { PEMCertificates.contents(of: Array($0.certificate)) })
        let store = try #require(index.makeStore())
        defer { X509_STORE_free(store) }
        for (certificate, result) in [
            (certificates.right, X509_V_OK), (certificates.untrusted, X509_V_OK), (certificates.right, X509_V_OK),
            (certificates.chained, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY),
            (certificates.selfSigned, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT), (certificates.root, X509_V_OK),
        ] {
            let parsed = try certificate.parsed()
            let verification = try #require(X509_STORE_CTX_new())
            X509_STORE_CTX_init(verification, store, parsed, nil)
            X509_verify_cert(verification)
            #expect(X509_STORE_CTX_get_error(verification) == result, "\(certificate.name)")
            X509_STORE_CTX_free(verification)
            X509_free(parsed)
        }
    }

    @Test func filesAndDirectoriesOfCertificatesAreRead() throws {
        let certificates = try TestCertificates.shared.get()
        let folder = try TestFolder()
        let file = try folder.put(certificates.root.certificate, at: "bundle.pem")
        try folder.put(certificates.otherRoot.certificate, at: "0123abcd.0")
        try folder.put(certificates.root.certificate, at: "89abcdef.12")
        try folder.put(certificates.middle.certificate, at: "middle.pem")
        let read = { (file: String?, directory: String?) in
            try? SystemCertificateLocations(file: file, directory: directory).read()
        }
        let (root, otherRoot) = (certificates.root.encoded, certificates.otherRoot.encoded)
        #expect(read(file, "/no/such/directory") == root)
        // A certificate is read once. Files whose names are not hashes are not read.
        #expect(read(file, "/no/such/directory:\(folder.path)") == root + otherRoot)
        #expect(read("/no/such/file.pem", folder.path) == otherRoot + root)
        #expect(read("/no/such/file.pem", "/no/such/directory") == [])
        // The directory adds to the default file.
        let all = try #require(read(nil, "/no/such/directory")) + root + otherRoot
        #expect(read(nil, folder.path).map(Set.init) == Set(all))
    }

    /// Otherwise the process would trust the rest of the authorities until it ends.
    @Test func transientErrorIsNoMissingFile() throws {
        let certificates = try TestCertificates.shared.get()
        let folder = try TestFolder()
        let file = try folder.put(certificates.root.certificate, at: "bundle.pem")
        // Its first page cannot be read (EIO).
        let unreadable = "/proc/self/mem"
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/0123abcd.0", withDestinationPath: unreadable)
        for (file, directory) in [(file, folder.path), (unreadable, "/no/such/directory")] {
            let locations = SystemCertificateLocations(file: file, directory: directory)
            #expect(throws: CertificateFile.Unreadable.self) { try locations.read() }
        }
        // A missing authority does not prevent the others.
        try FileManager.default.removeItem(atPath: "\(folder.path)/0123abcd.0")
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/0123abcd.0", withDestinationPath: "/none")
        #expect(try SystemCertificateLocations(file: file, directory: folder.path).read() == certificates.root.encoded)
    }

    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func certificatesOfTheSystemAreIndexedAndVerified() throws {
        let places = SystemCertificateLocations(file: nil, directory: nil)
        let found = try places.read()
        let text = try String(contentsOfFile: "/etc/ssl/certs/ca-certificates.crt", encoding: .utf8)
        #expect(found.count == text.components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1)
        let index = SystemCertificates(found)
        #expect(index.count == found.count)
        let store = try #require(index.makeStore())
        defer { X509_STORE_free(store) }
        for bytes in found.prefix(12) {
            let certificate = bytes.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return d2i_X509(nil, &start, bytes.count)
            }
            let parsed = try #require(certificate)
            let verification = try #require(X509_STORE_CTX_new())
            X509_STORE_CTX_init(verification, store, parsed, nil)
            X509_verify_cert(verification)
            #expect(X509_STORE_CTX_get_error(verification) == X509_V_OK)
            X509_STORE_CTX_free(verification)
            X509_free(parsed)
        }
    }
}

extension TestCertificate {
    /// The certificate in DER, as the only element.
    fileprivate var encoded: [[UInt8]] { PEMCertificates.contents(of: Array(certificate)) }
}
#endif
