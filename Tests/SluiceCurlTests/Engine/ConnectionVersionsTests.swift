import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct ConnectionVersionsTests {
    private let one = HTTPRequest(scheme: "http", authority: "one:80", path: "/").origin
    private let other = HTTPRequest(scheme: "http", authority: "other:80", path: "/").origin

    @Test func aConnectionIsSharedFromItsBeginningToItsEnd() {
        var versions = ConnectionVersions()
        #expect(!versions.mayShareCleartext(to: one))
        versions.beginCleartext(to: one)
        #expect(versions.mayShareCleartext(to: one) && versions.isConnectingCleartext(to: one))
        #expect(!versions.mayShareCleartext(to: other))
        #expect(!versions.isCleartext(5, to: one))
        versions.endCleartext(to: one)
        versions.noteCleartext(5, to: one)
        #expect(!versions.isConnectingCleartext(to: one))
        #expect(versions.mayShareCleartext(to: one))
        #expect(versions.isCleartext(5, to: one))
        #expect(!versions.isCleartext(5, to: other))
        #expect(!versions.isCleartext(6, to: one))
        versions.close(5)
        #expect(!versions.mayShareCleartext(to: one))
        #expect(!versions.isCleartext(5, to: one))
    }

    @Test func whatComesToNothingIsNotWaitedFor() {
        var versions = ConnectionVersions()
        versions.beginCleartext(to: one)
        versions.beginCleartext(to: one)
        versions.endCleartext(to: one)
        #expect(versions.mayShareCleartext(to: one))
        versions.endCleartext(to: one)
        #expect(!versions.mayShareCleartext(to: one))
        versions.endCleartext(to: one)
        #expect(!versions.mayShareCleartext(to: one))
    }

    @Test func thoseOfHTTP1AreKnownUntilTheyClose() {
        var versions = ConnectionVersions()
        versions.noteHTTP1(7)
        #expect(versions.isHTTP1(7))
        #expect(!versions.isHTTP1(8))
        versions.close(7)
        #expect(!versions.isHTTP1(7))
    }

    @Test func whatHasNoPortIsNotKnown() {
        var versions = ConnectionVersions()
        versions.noteCleartext(0, to: one)
        versions.noteHTTP1(0)
        #expect(!versions.mayShareCleartext(to: one))
        #expect(!versions.isCleartext(0, to: one))
        #expect(!versions.isHTTP1(0))
    }
}
