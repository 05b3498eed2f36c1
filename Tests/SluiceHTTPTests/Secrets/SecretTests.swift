import Foundation
import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite struct SecretTests {
    private struct Settings: Decodable {
        let token: Secret
        let password: Secret?
    }

    private struct Named: CustomStringConvertible, RedactedMirror {
        let secret = SecretTests.value
        var description: String { "named" }
    }

    private final class Sized: RedactedMirror {
        let secret = SecretTests.value
        var shown: [Mirror.Child] { [("size", secret.count)] }
    }

    private static let value = "Zq7pLaNtEd9x"

    /// Returns all texts that may show a value by mistake.
    private static func shown(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    @Test func descriptionsContainNoSecret() {
        let secret = Secret(Self.value)
        let carriers: [Any] = [
            secret, Optional(secret) as Any, [secret], ["token": secret], (user: "ada", secret),
            Result<Secret, SluiceError>.success(secret), Settings(token: secret, password: secret), Locked(secret),
        ]
        for carrier in carriers {
            for text in Self.shown(carrier) { #expect(!text.contains(Self.value)) }
        }
        #expect("\(secret)" == "REDACTED")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(secret.reveal() == Self.value)
    }

    @Test func mirrorHasSelectedChildrenOnly() {
        let named = Mirror(reflecting: Named())
        #expect(named.children.isEmpty && named.displayStyle == .struct)
        let sized = Mirror(reflecting: Sized())
        #expect(sized.children.map(\.label) == ["size"] && sized.displayStyle == .class)
        for text in Self.shown(Named()) + Self.shown(Sized()) { #expect(!text.contains(Self.value)) }
    }

    @Test(
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "aa", false), ("aa", "a", false),
            ("abc", "abd", false), ("abc", "xbc", false), ("", "a", false),
            // The same characters for people, but different bytes.
            ("\u{E9}", "e\u{301}", false), ("ß€", "ß€", true),
        ]
    )
    func secretsAreComparedByBytes(_ left: String, _ right: String, _ isEqual: Bool) {
        #expect((Secret(left) == Secret(right)) == isEqual)
        #expect((Set([Secret(left), Secret(right)]).count == 1) == isEqual)
    }

    @Test func secretIsDecodedFromAStringOnly() throws {
        let settings = try JSONDecoder().decode(Settings.self, from: Data(#"{"token":"t0k3n"}"#.utf8))
        #expect(settings.token == "t0k3n")
        #expect(settings.password == nil)
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Settings.self, from: Data(#"{"token":{"value":"\#(Self.value)"}}"#.utf8))
        }
        #expect(!"\(error as Any)".contains(Self.value))
    }

    @Test func secretIsNotEncodable() {
        let secret: Any = Secret(Self.value)
        #expect(!(secret is any Encodable))
    }

    @Test(
        arguments: [
            (["T": "x"], "x"), (["T": " x\n"], " x\n"), (["T": ""], nil), ([:], nil), (["t": "x"], nil),
        ] as [([String: String], String?)]
    )
    func environmentVariableIsRead(_ environment: [String: String], _ text: String?) {
        #expect(Secret(environment: "T", in: environment)?.reveal() == text)
    }

    @Test func processEnvironmentIsTheDefault() {
        #expect(Secret(environment: "PATH")?.reveal() == ProcessInfo.processInfo.environment["PATH"])
        #expect(Secret(environment: "SLUICE_\(UInt64.random(in: 0 ... .max))") == nil)
    }

    @Test(
        arguments: [
            ("x", "x"), ("x\n", "x"), ("x\r\n", "x"), ("x\n\n", "x\n"), ("\nx", "\nx"), (" x ", " x "), ("x\r", "x\r"),
            ("a\nb\n", "a\nb"), ("", nil), ("\n", nil), ("\r\n", nil),
        ] as [(String, String?)]
    )
    func oneTrailingLineBreakOfAFileIsRemoved(_ contents: String, _ text: String?) async throws {
        let file = try TemporaryFile(Data(contents.utf8))
        defer { file.remove() }
        do {
            #expect(try await Secret(contentsOf: file.url).reveal() == text)
        } catch {
            #expect(text == nil)
            #expect(error.code == .secretUnavailable)
        }
    }

    @Test func unusableFileFailsWithoutShowingItsContents() async throws {
        let binary = try TemporaryFile(Data(Self.value.utf8) + [0xFF, 0xFE])
        let large = try TemporaryFile(Data(repeating: 0x61, count: FileReader.pieceSize))
        defer { [binary, large].forEach { $0.remove() } }
        let missing = URL(filePath: "/nonexistent/\(UInt64.random(in: 0 ... .max))")
        for url in [binary.url, large.url, missing, URL(filePath: "/tmp")] {
            let error = await #expect(throws: SluiceError.self) { try await Secret(contentsOf: url) }
            #expect(error?.code == .secretUnavailable)
            #expect(error?.description.contains(url.path) == true)
            #expect(error?.description.contains(Self.value) == false)
        }
    }
}
