import SluiceTesting
import Testing

@testable import SluiceHTTP

@Suite struct DotSegmentsTests {
    @Test(
        arguments: [
            // RFC 3986 §5.2.4
            ("/a/b/c/./../../g", "/a/g"), ("mid/content=5/../6", "mid/6"),
            ("/.", "/"), ("/./", "/"), ("/..", "/"), ("/../", "/"), ("/a/.", "/a/"), ("/a/..", "/"), ("/a/../", "/"),
            ("/a/b/..", "/a/"), ("/a/b/../", "/a/"), ("/a/./b", "/a/b"), ("/a/../b", "/b"), ("/a/b/../../c", "/c"),
            (".", ""), ("..", ""), ("./", ""), ("../", ""), ("./a", "a"), ("../a", "a"), ("../../a", "a"),
            ("/../../x", "/x"), ("/../../../", "/"), ("//..", "/"), ("//../x", "/x"), ("/a//../b", "/a/b"),
            ("/..//x", "//x"), ("/a/../..//x", "//x"), ("/a//b/..//", "/a///"),
            ("/a/%2E%2e/b", "/b"), ("/a/.%2e/b", "/b"), ("/a/%2e./b", "/b"), ("/a/%2E/b", "/a/b"), ("/a/%2e", "/a/"),
            ("%2e%2e/a", "a"), ("/ü/../ö", "/ö"),
        ]
    )
    func dotSegmentsAreRemoved(_ path: String, _ expected: String) {
        #expect(DotSegments.removing(from: path) == expected)
    }

    @Test(
        arguments: [
            "", "/", "//", "a", "/a/b/", "/...", "/a/.../b", "/a./b.", "/.a/..b", "/a..", "/%2", "/%2e%2e%2e", "/%2ea",
            "/.%2", "/%252e%252e/", "/a%2e/", "/%2f../", "/.\u{301}/a", "/ü/..ü", "/%", "/.%2e.",
        ]
    )
    func pathWithoutDotSegmentsIsUnchanged(_ path: String) {
        #expect(Array(DotSegments.removing(from: path).utf8) == Array(path.utf8))
    }

    @Test func noDotSegmentsRemainInRandomPaths() {
        var generator = SeededGenerator(seed: 3986)
        let pieces = ["/", "/", ".", "..", "%2e", "%2E", "a", "%2", "ü"]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let path = "/" + (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let once = DotSegments.removing(from: path)
            #expect(once.hasPrefix("/"), "\(path)")
            let segments = once.lowercased().split(separator: "/").map { $0.replacing("%2e", with: ".") }
            #expect(!segments.contains(".") && !segments.contains(".."), "\(path)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func longPathIsNormalizedInTime() {
        let path = String(repeating: "/a", count: 300_000) + String(repeating: "/..", count: 300_000)
        #expect(DotSegments.removing(from: path) == "/")
    }
}
