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
        "subscription-key", "Ocp-Apim-Subscription-Key", "x-functions-key", "id_token_hint",
        "x-amz-server-side-encryption-customer-key",
    ])
    func namesOfServicesAreSecretInURLsAndBodies(_ name: String) {
        #expect(!SecretRules.usual.url("https://a.example/x?\(name)=abc123").contains("abc123"))
        #expect(SecretNames(SecretNames.usualMembers).contains(name))
    }

    @Test(arguments: [
        ("x-goog-encryption-key", true), ("x-amz-server-side-encryption-customer-key", true),
        ("x-goog-encryption-key-sha256", false), ("x-amz-server-side-encryption-customer-key-md5", false),
    ])
    func keysOfStorageAreSecretHeaders(_ name: String, _ isSecret: Bool) {
        #expect(SecretNames(SecretNames.usualHeaders).contains(name) == isSecret)
    }

    @Test(arguments: [
        "token", "pageTokens", "token[page_token]", "page_token.password", "next_access_token", "user[token]",
    ])
    func otherNamesStaySecret(_ name: String) {
        #expect(names.contains(name))
        #expect(usual.contains(name))
    }

    @Test func equalityIgnoresTheOrder() {
        let reversed = SecretNames(SecretNames.usualMembers.reversed())
        #expect(reversed == usual)
        #expect(reversed.hashValue == usual.hashValue)
        #expect(usual.union(["b", "a"]) == SecretNames(["a", "b"] + SecretNames.usualMembers))
        var changed = usual
        changed.insert("shoe-size")
        #expect(changed.contains("shoeSize") && changed != usual)
        changed.remove("shoe-size")
        #expect(!changed.contains("shoeSize") && changed == usual)
    }

    /// A word has no sign, so that no secret is in it, even if it is the name of one. Such texts are not searched.
    @Test(arguments: ["password", "--token", "Bearer", "a.b_c-$1", "-----BEGIN", "naïve"])
    func wordsAreNeverRedacted(_ word: String) {
        #expect(SecretScanner.isWord(word.utf8))
        #expect(SecretScanner.redacted(word, .usual) == word)
    }

    @Test(arguments: ["token=a", "token:a", "Bearer a", "token%3Da", "a://b", "<token>a", "a\nb"])
    func textsWithSignsAreNotWords(_ text: String) {
        #expect(!SecretScanner.isWord(text.utf8))
    }
}
