import Foundation

/// A certificate authority for tests. It uses `openssl` and has its own folder.
struct CertificateAuthority {
    let folder: URL
    let name: String

    /// The certificate to trust.
    var certificate: String { path("\(name).pem") }

    /// Creates an authority in an existing folder.
    init(_ name: String, in folder: URL) throws {
        self.name = name
        self.folder = folder
        try Data().write(to: folder.appending(path: "\(name).txt"))
        try Data("01\n".utf8).write(to: folder.appending(path: "\(name).serial"))
        try Data(configuration.utf8).write(to: folder.appending(path: "\(name).cnf"))
        try CertificateAuthority.createSelfSigned(name, subject: name, in: folder)
    }

    /// Creates a self-signed certificate with a new key, in `file`.pem and `file`.key.
    static func createSelfSigned(_ file: String, subject: String, names: String? = nil, in folder: URL) throws {
        let alternatives = names.map { ["-addext", "subjectAltName=\($0)"] } ?? []
        let certificate = folder.appending(path: "\(file).pem").path
        try RealServer.run(
            "openssl",
            ["req", "-x509", "-days", "3", "-utf8", "-subj", "/CN=\(subject)", "-out", certificate]
                + newKey(folder.appending(path: "\(file).key").path) + alternatives
        )
    }

    private init(_ name: String, signedIn folder: URL) {
        self.name = name
        self.folder = folder
    }

    /// Signs a certificate for a new key, in `file`.pem and `file`.key.
    ///
    /// - Parameters:
    ///   - file: The name of the files, without extension.
    ///   - subject: The common name.
    ///   - names: The alternative names, such as `DNS:localhost`.
    ///   - dates: The start and end of the validity, such as `20200101000000Z`; nil for three days from now.
    ///   - isAuthority: True if the certificate may sign others.
    /// - Throws: The output of `openssl`.
    func sign(
        _ file: String,
        subject: String,
        names: String? = nil,
        dates: (String, String)? = nil,
        isAuthority: Bool = false
    ) throws {
        let request = path("\(file).csr")
        let alternatives = names.map { ["-addext", "subjectAltName=\($0)"] } ?? []
        try RealServer.run(
            "openssl",
            ["req", "-subj", "/CN=\(subject)", "-out", request] + CertificateAuthority.newKey(path("\(file).key"))
                + alternatives
        )
        let validity = dates.map { ["-startdate", $0.0, "-enddate", $0.1] } ?? ["-days", "3"]
        try RealServer.run(
            "openssl",
            [
                "ca", "-batch", "-notext", "-config", path("\(name).cnf"), "-cert", certificate,
                "-keyfile", path("\(name).key"), "-in", request, "-out", path("\(file).pem"),
            ] + validity + (isAuthority ? ["-extensions", "authority"] : [])
        )
    }

    /// Creates an intermediate authority.
    func authority(_ name: String) throws -> CertificateAuthority {
        try sign(name, subject: name, isAuthority: true)
        let authority = CertificateAuthority(name, signedIn: folder)
        try Data().write(to: folder.appending(path: "\(name).txt"))
        try Data("01\n".utf8).write(to: folder.appending(path: "\(name).serial"))
        try Data(authority.configuration.utf8).write(to: folder.appending(path: "\(name).cnf"))
        return authority
    }

    /// Computes the pin of a certificate's key as the documentation describes.
    static func pin(of certificate: String) throws -> String {
        let command =
            "openssl x509 -in \(certificate) -pubkey -noout | openssl pkey -pubin -outform der"
            + " | openssl dgst -sha256 -binary | base64"
        let digest = try RealServer.run("/bin/sh", "-c", command)
        return "sha256/\(digest.trimmingCharacters(in: .whitespacesAndNewlines))"
    }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    private static func newKey(_ path: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]
    }

    private var configuration: String {
        """
        [ca]
        default_ca = own
        [own]
        database = \(path("\(name).txt"))
        serial = \(path("\(name).serial"))
        new_certs_dir = \(folder.path)
        default_md = sha256
        policy = any
        copy_extensions = copy
        unique_subject = no
        [any]
        commonName = supplied
        [authority]
        basicConstraints = critical,CA:TRUE
        """
    }
}
