import Foundation
import SluiceHTTP
import Testing

@Suite struct SluiceErrorCodeTests {
    /// The members that the sources declare, each with the text of its code.
    private static func declared() throws -> [(member: String, text: String)] {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let sources = root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
        var declared: [(String, String)] = []
        // The codes of Redis are another type.
        for case let file as String in files where file.hasSuffix(".swift") && !file.hasSuffix("/RedisError.swift") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /static let (\w+) = (?:SluiceError\.)?Code\("(\w+)"\)/) {
                declared.append((String(match.1), String(match.2)))
            }
        }
        return declared
    }

    @Test func descriptionIsTheNameOfTheMember() throws {
        let declared = try Self.declared()
        #expect(declared.count > 50)
        for (member, text) in declared { #expect(text == member) }
        #expect(Set(declared.map(\.text)).count == declared.count)
        #expect(SluiceError.Code.timedOut.description == "timedOut")
        #expect(SluiceError.Code("quotaUsedUp").description == "quotaUsedUp")
    }

    @Test func customCodeCanBeSwitchedOver() {
        func answer(_ error: SluiceError) -> String {
            switch error.code {
            case .timedOut, .idleTimedOut: "late"
            case SluiceError.Code("quotaUsedUp"): "quota"
            default: "other"
            }
        }
        #expect(answer(SluiceError(.idleTimedOut, "")) == "late")
        #expect(answer(SluiceError(.init("quotaUsedUp"), "")) == "quota")
        #expect(answer(SluiceError(.cancelled, "")) == "other")
    }

    @Test func catchClauseCanMatchTheCode() {
        do {
            throw SluiceError(.timedOut, "Late.") as any Error
        } catch let error as SluiceError where error.code == .cancelled {
            Issue.record("The wrong clause caught it: \(error)")
        } catch let error as SluiceError where error.code == .timedOut {
            #expect(error.reason == "Late.")
        } catch {
            Issue.record("No clause caught it: \(error)")
        }
    }
}
