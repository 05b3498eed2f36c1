import SluiceHTTP
import Testing

/// Sets of secret names with exemptions. The comparison of names is tested with `Redaction.Names`.
@Suite struct SecretNamesTests {
    private let usual = SecretNames(SecretNames.usualMembers)
    private var names: SecretNames { usual.excluding(["*page-token", "next-token"]) }

    @Test(arguments: [
        "nextPageToken", "page_token", "NEXT-TOKEN", "page[next_token]", "list.pageToken", "a.b[page_token][]", "name",
        "",
    ])
    func exemptNamesAreNotSecret(_ name: String) {
        #expect(!names.contains(name))
    }

    @Test(arguments: [
        "token", "pageTokens", "token[page_token]", "page_token.password", "next_access_token", "user[token]",
    ])
    func otherNamesStaySecret(_ name: String) {
        #expect(names.contains(name))
        #expect(usual.contains(name))
    }
}
