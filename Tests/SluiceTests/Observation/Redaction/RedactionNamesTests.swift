import Sluice
import Testing

@Suite struct RedactionNamesTests {
    @Test(
        arguments: [
            "access_token", "accessToken", "Access-Token", "ACCESSTOKEN", "token", "x.token", "user[password]",
            "user.password", "newPassword", "password2", "password_confirmation", "client_secret", "clientSecretHash",
            "api_key", "apikey", "X-Api-Key", "apiKeyId", "refresh-token", "id_token", "PassWord", "tokens[]", "pin",
            "user[pin]", "X-Amz-Signature", "X-Amz-Credential", "sessionid", "JSESSIONID", "code_verifier",
            "p-a-s-s-w-o-r-d",
        ]
    )
    func recognisesSecretNamesInAnySpelling(_ name: String) {
        #expect(Redaction.Names.members.contains(name))
        #expect(Redaction.Names.parameters.contains(name))
    }

    @Test(
        arguments: [
            "", "name", "id", "email", "tokenType", "shipping", "spinner", "statusCode", "monkey", "author", "design",
            "compass", "[]", "...", "*", "-_-", "page", "keyboard",
        ]
    )
    func doesNotMatchOtherNames(_ name: String) {
        #expect(!Redaction.Names.members.contains(name))
        #expect(!Redaction.Names.parameters.contains(name))
        #expect(!Redaction.Names.headers.contains(name))
    }

    @Test(
        arguments: [
            "authorization", "PROXY-AUTHORIZATION", "Cookie", "set-cookie", "X-Api-Key", "X-Auth-Token",
            "X-Amz-Security-Token", "Ocp-Apim-Subscription-Key", "X-CSRF-Token", "Private-Token", "X-Vault-Token",
            "x-functions-key", "X-Hub-Signature", "X-Goog-Api-Key",
        ]
    )
    func recognisesSecretHeaders(_ name: String) {
        #expect(Redaction.Names.headers.contains(name))
    }

    @Test(arguments: [
        "Accept", "Content-Type", "ETag", "Idempotency-Key", "Sec-WebSocket-Key", "User-Agent", "X-Request-Id",
    ])
    func doesNotMatchOtherHeaders(_ name: String) {
        #expect(!Redaction.Names.headers.contains(name))
    }

    @Test func matchesWildcards() {
        let names: Redaction.Names = ["exact", "*end", "begin*", "*middle*"]
        #expect(names.contains("Exact") && !names.contains("exactly") && !names.contains("inexact"))
        #expect(names.contains("the end") && names.contains("end") && !names.contains("ending"))
        #expect(names.contains("begin") && names.contains("beginning") && !names.contains("rebegin"))
        #expect(names.contains("middle") && names.contains("a-middle-b") && !names.contains("midle"))
        let all: Redaction.Names = ["*"]
        #expect(all.contains("anything") && !all.contains(""))
    }

    @Test func insertsAndRemovesNames() {
        var names = Redaction.Names.members
        #expect(!names.contains("iban"))
        names.insert("IBAN")
        #expect(names.contains("iban") && names.contains("account[iban]"))
        names.remove("iban")
        #expect(!names.contains("iban"))
        names.remove("*token")
        #expect(!names.contains("token") && names.contains("password"))
        #expect(Redaction.Names([]) == [] && names != [])
        #expect(Redaction.Names(["a"]).union(["b*"]) == ["b*", "a"])
    }
}
