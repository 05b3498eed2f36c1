import Sluice
import Testing

@Suite struct URITemplateValueTests {
    @Test(
        arguments: [
            ("{x}", "Grüner Weg", "Gr%C3%BCner%20Weg"), ("{x}", "👍🏽", "%F0%9F%91%8D%F0%9F%8F%BD"),
            ("{x}", "a-b._~c", "a-b._~c"),
            ("{x}", ":/?#[]@!$&'()*+,;=", "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
            ("{+x}", ":/?#[]@!$&'()*+,;=", ":/?#[]@!$&'()*+,;="),
            ("{x}", "\0\n\"<>\\^`{|}", "%00%0A%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("{+x}", "\0\n\"<>\\^`{|}", "%00%0A%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("{x}", "a%2Fb", "a%252Fb"), ("{+x}", "a%2Fb%2f", "a%2Fb%2f"), ("{#x}", "a%2Fb", "#a%2Fb"),
            ("{+x}", "%foo", "%25foo"), ("{+x}", "%", "%25"), ("{+x}", "%2", "%252"), ("{+x}", "%%41", "%25%41"),
            ("{+x}", "%4g%g4", "%254g%25g4"),
        ]
    )
    func encodesValueByOperator(_ template: URITemplate, _ value: String, _ text: String) throws {
        #expect(try template.expand(["x": value]) == text)
    }

    @Test(
        arguments: [
            ("{x:1}", "üb", "%C3%BC"), ("{x:2}", "üb", "%C3%BCb"), ("{x:1}", "👍🏽", "%F0%9F%91%8D"),
            ("{x:1}", "e\u{301}", "e"), ("{x:2}", "a\r\nb", "a%0D"), ("{x:9999}", "ab", "ab"), ("{?x:1}", "", "?x="),
            ("{x:1}", "%41", "%25"), ("{+x:1}", "%41b", "%41"), ("{+x:2}", "%41b", "%41b"),
            ("{+x:1}", "%C3%BCb", "%C3%BC"), ("{+x:2}", "%F0%9F%91%8Db%41", "%F0%9F%91%8Db"),
            ("{+x:1}", "%80%80", "%80"), ("{+x:1}", "%C3%C3", "%C3"), ("{+x:1}", "%C3", "%C3"),
            ("{+x:2}", "%4", "%254"),
        ]
    )
    func prefixCountsWholeCharacters(_ template: URITemplate, _ value: String, _ text: String) throws {
        #expect(try template.expand(["x": value]) == text)
    }

    @Test(
        arguments: [
            ("grün käse", "gr%C3%BCn%20k%C3%A4se"), ("a\"b<c>\\^`|", "a%22b%3Cc%3E%5C%5E%60%7C"),
            (":/?#[]@!$&'()*+,;=", ":/?#[]@!$&'()*+,;="), ("100%", "100%25"), ("%41%zz", "%41%25zz"), ("", ""),
        ]
    )
    func encodesLiteralText(_ template: String, _ text: String) throws {
        #expect(try URITemplate(template).expand() == text)
    }

    @Test(
        arguments: [
            "", "{x}", "a{x}b", "{?x}", "{&x*}", "{/x}", "{;x}", "{#x}", "{+x:3}", "{.x*}", "{x,y}",
        ]
    )
    func undefinedValuesExpandToNothing(_ template: URITemplate) throws {
        let literal = template.description == "a{x}b" ? "ab" : ""
        let values: [Parameters.Value] = [
            nil, [String](), [String: String](), Parameters(), [String?.none], ["a": String?.none],
            ["a": nil] as Parameters, String?.none, [Int]?.none,
        ]
        for value in values { #expect(try template.expand(["x": value]) == literal) }
    }

    @Test func acceptsLiteralsListsAndDictionaries() throws {
        let name = "b c"
        let page: Int? = 2
        let variables: Parameters = [
            "integer": 1, "number": -122.427, "flag": true, "text": "a\(name)", "list": ["a", nil, "b"] as [String?],
            "pairs": ["b": "1", "a": nil, "c": 2] as Parameters, "optional": page, "numbers": [1, 2],
            "dictionary": ["b": "1", "a": "2"], "marked": ["\u{E9}[": "2", "e\u{301}": "1"], "json": ["b", 2] as JSON,
        ]
        let examples = [
            "{integer}": "1", "{number}": "-122.427", "{flag}": "true", "{text}": "ab%20c", "{list}": "a,b",
            "{pairs*}": "b=1,c=2", "{optional}": "2", "{numbers}": "1,2", "{dictionary}": "a,2,b,1",
            "{marked}": "e%CC%81,1,%C3%A9%5B,2", "{json}": "b,2",
        ]
        for (template, text) in examples { #expect(try URITemplate(template).expand(variables) == text) }
    }

    @Test func lastValueOfVariableAppliesAndNilRemovesIt() throws {
        let template: URITemplate = "{x}"
        var variables: Parameters = ["x": 1, "x": 2]
        #expect(try template.expand(variables) == "2")
        variables["x"] = nil
        #expect(try template.expand(variables) == "")
    }

    @Test func encodesNamesOfExplodedPairs() throws {
        let template: URITemplate = "{?fields*}"
        #expect(try template.expand(["fields": ["a&admin": "1", "b=": "#"]]) == "?a%26admin=1&b%3D=%23")
        #expect(try URITemplate("{;fields*}").expand(["fields": ["a": "", "b": "1"]]) == ";a;b=1")
        #expect(try URITemplate("{?fields*}").expand(["fields": ["a": ""]]) == "?a=")
        #expect(try URITemplate("{fields*}").expand(["fields": ["a": ""]]) == "a=")
    }

    @Test(
        arguments: [
            ("{last.name}", "last.name"), ("{?42}", "42"), ("{Stra%C3%9Fe}", "Stra%C3%9Fe"), ("{_a_}", "_a_"),
        ]
    )
    func looksUpNamesLiterally(_ template: URITemplate, _ name: String) throws {
        var variables = Parameters()
        variables[name] = "found"
        #expect(try template.expand(variables).hasSuffix("found"))
        #expect(try URITemplate("{X}").expand(["x": 1]) == "")
    }

    @Test func keepsEmptyMembersOfList() throws {
        let variables: Parameters = ["x": ["", "a", ""]]
        #expect(try URITemplate("{x}").expand(variables) == ",a,")
        #expect(try URITemplate("{/x*}").expand(variables) == "//a/")
        #expect(try URITemplate("{?x*}").expand(variables) == "?x=&x=a&x=")
        #expect(try URITemplate("{;x*}").expand(variables) == ";x;x=a;x")
    }

    @Test func templatesAreEqualByBytes() {
        #expect(URITemplate("{x}") == "{x}")
        #expect(URITemplate("{x}") != "{y}")
        // Canonically equivalent, but different bytes in a URL.
        #expect(URITemplate("\u{E9}") != "e\u{301}")
        #expect(Set<URITemplate>(["{x}", "{x}", "{"]).count == 2)
    }

    private enum Order: String, Encodable { case ascending }

    @Test func expandsValuesOfAnyEncodableTypes() throws {
        let id = 7
        let name = "a/b"
        let tags = ["x", "y"]
        let missing: String? = nil
        let template: URITemplate = "users/{id}/{name}{?page,tags*,order,missing,ratio,all,filter*}"
        let expansion = template.expanding([
            "id": id, "name": name, "page": 2, "tags": tags, "order": Order.ascending, "missing": missing, "ratio": 0.5,
            "all": true, "filter": ["k": "v"],
        ])
        let path = "users/7/a%2Fb?page=2&tags=x&tags=y&order=ascending&ratio=0.5&all=true&k=v"
        #expect(try expansion.draft().path == path)
    }

    @Test func variablesThatCannotBeEncodedFailTheRequest() throws {
        let ratio = Double.nan
        let error = #expect(throws: SluiceError.self) { try URITemplate("{ratio}").expanding(["ratio": ratio]).draft() }
        #expect(error?.code == .encodingFailed)
    }

    @Test func nestedValueFailsInsteadOfBeingDropped() throws {
        for parameters: Parameters in [["filter": ["tags": ["a", "b"]]], ["filter": [["a"], ["b"]]]] {
            let error = #expect(throws: SluiceError.self) {
                try URITemplate("items{?filter*}").expanding(parameters).draft()
            }
            #expect(error?.code == .encodingFailed)
            #expect(error?.reason.contains("“filter”") == true)
        }
    }
}
