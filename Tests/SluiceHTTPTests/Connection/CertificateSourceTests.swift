import Foundation
import SluiceHTTP
import Testing

@Suite struct CertificateSourceTests {
    @Test(arguments: ["/etc/bank/ca.pem", "/a b/ü.pem", "/a%20b/c.pem", "/"])
    func urlOfAFileEqualsItsPath(path: String) {
        #expect(CertificateSource.file(URL(filePath: path)) == .file(path))
    }

    /// A secret, an optional one and a text are the same password.
    @Test func passwordsAreSecretsOrTexts() {
        let secret = Secret("pw")
        let pem = { ClientCertificate.pem(certificate: .file("a.pem"), key: .file("a.key"), password: $0) }
        #expect(pem(secret) == pem("pw"))
        #expect(pem(Optional(secret)) == pem("pw"))
        #expect(pem(nil) != pem("pw"))
        #expect(pem(Secret?.none) == pem(nil))
        #expect(ClientCertificate.pkcs12(.file("a.p12"), password: secret) == .pkcs12(.file("a.p12"), password: "pw"))
        #expect(ClientCertificate.pkcs12(.file("a.p12"), password: secret) != .pkcs12(.file("a.p12"), password: ""))
    }
}
