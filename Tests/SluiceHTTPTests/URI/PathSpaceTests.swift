import Testing

@testable import SluiceHTTP

@Suite struct PathSpaceTests {
    @Test(arguments: [
        ("/", "/"), ("/a", "/"), ("/a/", "/a/"), ("/a/b?c/d", "/a/"), ("/a?x=/b/", "/"), ("", "/"), ("*", "/"),
        ("/a/b#/c/", "/a/"),
    ])
    func folderEndsAtTheLastSlashOfThePath(_ target: String, _ folder: String) {
        #expect(PathSpace.folder(of: PathSpace.path(of: target)) == folder)
    }

    @Test(arguments: [
        ("/", "/anything/..", 1), ("/a/", "/a/", 3), ("/a/", "/a/b/c", 3), ("/a/", "/a/b.c", 3), ("/a", "/a", 2),
        ("/a", "/a/b", 2), ("/a/", "/a", nil), ("/a/", "/ab/", nil), ("/a", "/ab", nil), ("/a/", "/A/", nil),
        ("/a/", "/", nil), ("/a/", "/%61/", nil),
    ])
    func pathsAtOrBelowTheFolderAreCovered(_ folder: String, _ path: String, _ length: Int?) {
        #expect(PathSpace.longestMatch(of: [folder], path) == length)
    }

    /// Spellings of `..` that some server resolves after the client has compared the paths.
    @Test func pathsThatMayLeadUpAreCoveredByTheRootOnly() {
        let dots = ["..", ".%2e", "%2E.", "%2e%2E"].flatMap { [$0, "\($0);", "\($0);x=1"] }
        let separators = ["/", "%2f", "%2F", "\\", "%5c", "%5C"]
        for dots in dots {
            for (before, after) in separators.flatMap({ before in separators.map { (before, $0) } }) {
                let path = "/a\(before)b\(before)\(dots)\(after)c"
                #expect(PathSpace.longestMatch(of: ["/a"], path) == nil, "\(path)")
                #expect(PathSpace.longestMatch(of: ["/a/", "/"], path) == 1, "\(path)")
            }
            #expect(PathSpace.longestMatch(of: ["/a/"], "/a/b/\(dots)") == nil)
        }
        for harmless in ["/a/...", "/a/b..c", "/a/%2e%2ec", "/a/.", "/a/b;..", "/a/%2fb"] {
            #expect(PathSpace.longestMatch(of: ["/a/"], harmless) == 3, "\(harmless)")
        }
    }
}
