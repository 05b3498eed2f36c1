import Sluice
import SluiceTesting
import Testing

@Suite struct URITemplateFailureTests {
    @Test(
        arguments: [
            ("{", 0), ("a{x", 1), ("{/id*", 0), ("{x{y}", 0), ("{?query){&default*}", 0), ("}", 0), ("a}b", 1),
            ("/id*}", 4), ("{x}}", 3), ("{}", 1), ("{?}", 2), ("{,x}", 1), ("{x,}", 3), ("{x,,y}", 3),
            ("{=path}", 1), ("{,}", 1), ("{!hello}", 1), ("{@x}", 1), ("{|var*}", 1), ("{$var}", 1), ("{/?id}", 2),
            ("{??hello}", 2), ("{*keys?}", 1), ("{hello+}", 6), ("{?empty=default,var}", 7),
            ("{var}{-prefix|/-/|var}", 6), ("{~thing}", 1), ("{with space}", 5), ("{ x}", 1), ("{x }", 2),
            ("{?x, y}", 4), ("{\0x}", 1), ("{ü}", 1), ("ü{ü}", 2), ("{a%}", 2), ("{a%4}", 2), ("{a%zz}", 2),
            ("{.a.}", 3), ("{..a}", 2), ("{a..b}", 3), ("{a.}", 2), ("{var:prefix}", 5), ("{var:}", 5),
            ("{var:0}", 5), ("{var:01}", 5), ("{var:10000}", 5), ("{var:-1}", 5), ("{var:+1}", 5),
            ("{var:99999999999999999999}", 5), ("{hello:2*}", 7), ("{x*:2}", 3), ("{x**}", 3), ("{x:1:2}", 3),
            ("{x:٣}", 3),
        ] as [(String, Int)]
    )
    func malformedTemplateReportsPosition(_ template: String, _ position: Int) {
        let error = #expect(throws: SluiceError.self) { try URITemplate(template).expand(["x": 1]) }
        #expect(error?.code == .invalidURL)
        let failure = error?.underlyingError as? URITemplateFailure
        #expect(failure?.position == position)
        #expect(failure?.template == template)
        #expect(
            failure?.description.hasPrefix("The URI template “\(template)” cannot be expanded: at position") == true
        )
        #expect(failure?.description.hasSuffix(".") == true)
        let parsing = #expect(throws: URITemplateFailure.self) { try URITemplate(parsing: template) }
        #expect(parsing == failure)
    }

    @Test(
        arguments: [
            ("{keys:1}", 1), ("{+keys:1}", 2), ("{?x,list:3}", 4), ("{;list:3}", 2),
        ]
    )
    func rejectsPrefixOfList(_ template: URITemplate, _ position: Int) {
        let error = #expect(throws: SluiceError.self) {
            try template.expand(["x": 1, "keys": ["secret": "1"], "list": ["secret"]])
        }
        let failure = error?.underlyingError as? URITemplateFailure
        #expect(failure?.position == position)
        #expect(failure?.reason.contains("prefix") == true)
        #expect(failure?.description.contains("secret") == false)
    }

    @Test func acceptsPrefixOfEmptyListAndText() throws {
        #expect(try URITemplate(parsing: "{keys:1}").expand(["keys": [String]()]) == "")
        #expect(try URITemplate(parsing: "{keys:1}").expand(["keys": "ab"]) == "a")
    }

    @Test func reasonNamesInvalidCharacter() {
        let failure = #expect(throws: URITemplateFailure.self) { try URITemplate(parsing: "{a\nb}") }
        #expect(failure?.reason == #"“\n” is not allowed in a variable's name"#)
    }

    @Test func randomTemplatesDoNotTrap() {
        var generator = SeededGenerator(seed: 6570)
        let pieces = [
            "{", "}", "?", "+", "#", "x", "list", "keys", ":", "3", "*", ",", ".", "%", "%41", "ü", "\0", "/", "=",
        ]
        var expanded = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let template = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let variables: Parameters = ["x": "ü%41", "list": ["a", ""], "keys": ["k": "v"]]
            guard let text = try? URITemplate(template).expand(variables) else { continue }
            expanded += 1
            #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(template)")
        }
        #expect(expanded > 1000)
    }
}
