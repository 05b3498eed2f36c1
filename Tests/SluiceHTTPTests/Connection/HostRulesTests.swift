import SluiceHTTP
import Testing

@Suite struct HostRulesTests {
    @Test(
        arguments: [
            (nil, [], "any.example", true), (nil, ["any.example"], "any.example", false),
            (nil, ["any.example"], "other.example", true), (["api.example"], [], "api.example", true),
            (["api.example"], [], "API.example.", true), (["api.example"], [], "other.example", false),
            (["*.cdn.example"], ["legacy.cdn.example"], "img.cdn.example", true),
            (["*.cdn.example"], ["legacy.cdn.example"], "legacy.cdn.example", false),
            (["legacy.cdn.example"], ["*.cdn.example"], "legacy.cdn.example", false), ([], [], "api.example", false),
            (["*"], ["::1"], "[::1]", false), (["*"], ["::1"], "[0:0::1]", false), (["*"], ["*"], "api.example", false),
        ] as [([HostPattern]?, [HostPattern], String, Bool)]
    )
    func deniedHostsTakePrecedence(
        allowed: [HostPattern]?,
        denied: [HostPattern],
        host: String,
        allows: Bool
    ) {
        #expect(HostRules(allowing: allowed, denying: denied).allows(host) == allows)
    }

    @Test func defaultAllowsAllHosts() {
        #expect(HostRules() == .all)
        #expect(ConnectionOptions().hosts == .all)
        #expect(HostRules.all.allows(""))
    }
}
