import Fetching
import Testing

@Suite struct ClaimedNamesTests {
    @Test func aNameBelongsToOneDownload() {
        var names = ClaimedNames()
        let claims = [("x.iso", 0), ("y.iso", 1), ("x.iso", 0), ("x.iso", 2), ("y.iso", 0), ("z.iso", 2)]
        let results = claims.map { names.claim($0.0, for: $0.1) }
        #expect(results == [true, true, true, false, false, true])
        #expect(names.refused == [0, 2])
    }

    @Test(arguments: ["A_b.txt", "ab.txt", ".a:b.txt", "a:b.txt."])
    func namesThatMayBeTheSameFileBelongToOneDownload(_ other: String) {
        var names = ClaimedNames()
        let isFirst = names.claim("a:b.txt", for: 0)
        let isSecond = names.claim(other, for: 1)
        #expect(isFirst && !isSecond)
    }

    @Test(arguments: [
        ("/a/x.iso", "x.iso"), ("/a/x%20y.iso?b=/c#d", "x y.iso"), ("/a/", "a"), ("/", "download"), ("", "download"),
    ])
    func aFileIsNamedAfterThePath(_ path: String, _ name: String) {
        #expect(ClaimedNames.name(ofPath: path) == name)
    }
}
