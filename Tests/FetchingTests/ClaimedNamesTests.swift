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
}
