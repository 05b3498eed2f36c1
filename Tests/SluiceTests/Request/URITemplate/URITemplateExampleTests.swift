import Sluice
import Testing

/// The examples of RFC 6570, section by section.
@Suite struct URITemplateExampleTests {
    struct Section: Sendable, CustomTestStringConvertible {
        let name: String
        let examples: KeyValuePairs<String, String>
        var testDescription: String { name }
    }

    static let variables: Parameters = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
        "list": ["red", "green", "blue"], "v": "6", "x": "1024", "y": "768",
        "keys": ["semi": ";", "dot": ".", "comma": ","] as Parameters, "empty": "", "empty_keys": [String: String](),
        "undef": nil, "semi": ";", "year": ["1965", "2000", "2012"],
    ]

    static let levels = [
        Section(name: "1.2, level 1", examples: ["{var}": "value", "{hello}": "Hello%20World%21"]),
        Section(
            name: "1.2, level 2",
            examples: [
                "{+var}": "value", "{+hello}": "Hello%20World!", "{+path}/here": "/foo/bar/here",
                "here?ref={+path}": "here?ref=/foo/bar", "X{#var}": "X#value", "X{#hello}": "X#Hello%20World!",
            ]
        ),
        Section(
            name: "1.2, level 3",
            examples: [
                "map?{x,y}": "map?1024,768", "{x,hello,y}": "1024,Hello%20World%21,768",
                "{+x,hello,y}": "1024,Hello%20World!,768", "{+path,x}/here": "/foo/bar,1024/here",
                "{#x,hello,y}": "#1024,Hello%20World!,768", "{#path,x}/here": "#/foo/bar,1024/here",
                "X{.var}": "X.value", "X{.x,y}": "X.1024.768", "{/var}": "/value", "{/var,x}/here": "/value/1024/here",
                "{;x,y}": ";x=1024;y=768", "{;x,y,empty}": ";x=1024;y=768;empty", "{?x,y}": "?x=1024&y=768",
                "{?x,y,empty}": "?x=1024&y=768&empty=", "?fixed=yes{&x}": "?fixed=yes&x=1024",
                "{&x,y,empty}": "&x=1024&y=768&empty=",
            ]
        ),
        Section(
            name: "1.2, level 4",
            examples: [
                "{var:3}": "val", "{var:30}": "value", "{list}": "red,green,blue", "{list*}": "red,green,blue",
                "{keys}": "semi,%3B,dot,.,comma,%2C", "{keys*}": "semi=%3B,dot=.,comma=%2C",
                "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue", "{+list*}": "red,green,blue",
                "{+keys}": "semi,;,dot,.,comma,,", "{+keys*}": "semi=;,dot=.,comma=,",
                "{#path:6}/here": "#/foo/b/here", "{#list}": "#red,green,blue", "{#list*}": "#red,green,blue",
                "{#keys}": "#semi,;,dot,.,comma,,", "{#keys*}": "#semi=;,dot=.,comma=,", "X{.var:3}": "X.val",
                "X{.list}": "X.red,green,blue", "X{.list*}": "X.red.green.blue",
                "X{.keys}": "X.semi,%3B,dot,.,comma,%2C", "X{.keys*}": "X.semi=%3B.dot=..comma=%2C",
                "{/var:1,var}": "/v/value", "{/list}": "/red,green,blue", "{/list*}": "/red/green/blue",
                "{/list*,path:4}": "/red/green/blue/%2Ffoo", "{/keys}": "/semi,%3B,dot,.,comma,%2C",
                "{/keys*}": "/semi=%3B/dot=./comma=%2C", "{;hello:5}": ";hello=Hello",
                "{;list}": ";list=red,green,blue", "{;list*}": ";list=red;list=green;list=blue",
                "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C", "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
                "{?var:3}": "?var=val", "{?list}": "?list=red,green,blue",
                "{?list*}": "?list=red&list=green&list=blue", "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C",
                "{?keys*}": "?semi=%3B&dot=.&comma=%2C", "{&var:3}": "&var=val", "{&list}": "&list=red,green,blue",
                "{&list*}": "&list=red&list=green&list=blue", "{&keys}": "&keys=semi,%3B,dot,.,comma,%2C",
                "{&keys*}": "&semi=%3B&dot=.&comma=%2C",
            ]
        ),
        Section(
            name: "2.4.1",
            examples: ["{var}": "value", "{var:20}": "value", "{var:3}": "val", "{semi}": "%3B", "{semi:2}": "%3B"]
        ),
        Section(
            name: "2.4.2",
            examples: ["find{?year*}": "find?year=1965&year=2000&year=2012", "www{.dom*}": "www.example.com"]
        ),
    ]

    static let expansions = [
        Section(
            name: "3.2.1",
            examples: [
                "{count}": "one,two,three", "{count*}": "one,two,three", "{/count}": "/one,two,three",
                "{/count*}": "/one/two/three", "{;count}": ";count=one,two,three",
                "{;count*}": ";count=one;count=two;count=three", "{?count}": "?count=one,two,three",
                "{?count*}": "?count=one&count=two&count=three", "{&count*}": "&count=one&count=two&count=three",
            ]
        ),
        Section(
            name: "3.2.2, simple",
            examples: [
                "{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX",
                "O{undef}X": "OX", "{x,y}": "1024,768", "{x,hello,y}": "1024,Hello%20World%21,768",
                "?{x,empty}": "?1024,", "?{x,undef}": "?1024", "?{undef,y}": "?768", "{var:3}": "val",
                "{var:30}": "value", "{list}": "red,green,blue", "{list*}": "red,green,blue",
                "{keys}": "semi,%3B,dot,.,comma,%2C", "{keys*}": "semi=%3B,dot=.,comma=%2C",
            ]
        ),
        Section(
            name: "3.2.3, reserved",
            examples: [
                "{+var}": "value", "{+hello}": "Hello%20World!", "{+half}": "50%25",
                "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex",
                "{+base}index": "http://example.com/home/index", "O{+empty}X": "OX", "O{+undef}X": "OX",
                "{+path}/here": "/foo/bar/here", "here?ref={+path}": "here?ref=/foo/bar",
                "up{+path}{var}/here": "up/foo/barvalue/here", "{+x,hello,y}": "1024,Hello%20World!,768",
                "{+path,x}/here": "/foo/bar,1024/here", "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue",
                "{+list*}": "red,green,blue", "{+keys}": "semi,;,dot,.,comma,,", "{+keys*}": "semi=;,dot=.,comma=,",
            ]
        ),
        Section(
            name: "3.2.4, fragment",
            examples: [
                "{#var}": "#value", "{#hello}": "#Hello%20World!", "{#half}": "#50%25", "foo{#empty}": "foo#",
                "foo{#undef}": "foo", "{#x,hello,y}": "#1024,Hello%20World!,768",
                "{#path,x}/here": "#/foo/bar,1024/here", "{#path:6}/here": "#/foo/b/here", "{#list}": "#red,green,blue",
                "{#list*}": "#red,green,blue", "{#keys}": "#semi,;,dot,.,comma,,", "{#keys*}": "#semi=;,dot=.,comma=,",
            ]
        ),
        Section(
            name: "3.2.5, label",
            examples: [
                "{.who}": ".fred", "{.who,who}": ".fred.fred", "{.half,who}": ".50%25.fred",
                "www{.dom*}": "www.example.com", "X{.var}": "X.value", "X{.empty}": "X.", "X{.undef}": "X",
                "X{.var:3}": "X.val", "X{.list}": "X.red,green,blue", "X{.list*}": "X.red.green.blue",
                "X{.keys}": "X.semi,%3B,dot,.,comma,%2C", "X{.keys*}": "X.semi=%3B.dot=..comma=%2C",
                "X{.empty_keys}": "X", "X{.empty_keys*}": "X",
            ]
        ),
        Section(
            name: "3.2.6, path",
            examples: [
                "{/who}": "/fred", "{/who,who}": "/fred/fred", "{/half,who}": "/50%25/fred",
                "{/who,dub}": "/fred/me%2Ftoo", "{/var}": "/value", "{/var,empty}": "/value/",
                "{/var,undef}": "/value", "{/var,x}/here": "/value/1024/here", "{/var:1,var}": "/v/value",
                "{/list}": "/red,green,blue", "{/list*}": "/red/green/blue",
                "{/list*,path:4}": "/red/green/blue/%2Ffoo", "{/keys}": "/semi,%3B,dot,.,comma,%2C",
                "{/keys*}": "/semi=%3B/dot=./comma=%2C",
            ]
        ),
        Section(
            name: "3.2.7, path parameters",
            examples: [
                "{;who}": ";who=fred", "{;half}": ";half=50%25", "{;empty}": ";empty",
                "{;v,empty,who}": ";v=6;empty;who=fred", "{;v,bar,who}": ";v=6;who=fred", "{;x,y}": ";x=1024;y=768",
                "{;x,y,empty}": ";x=1024;y=768;empty", "{;x,y,undef}": ";x=1024;y=768", "{;hello:5}": ";hello=Hello",
                "{;list}": ";list=red,green,blue", "{;list*}": ";list=red;list=green;list=blue",
                "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C", "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
            ]
        ),
        Section(
            name: "3.2.8, query",
            examples: [
                "{?who}": "?who=fred", "{?half}": "?half=50%25", "{?x,y}": "?x=1024&y=768",
                "{?x,y,empty}": "?x=1024&y=768&empty=", "{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val",
                "{?list}": "?list=red,green,blue", "{?list*}": "?list=red&list=green&list=blue",
                "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C", "{?keys*}": "?semi=%3B&dot=.&comma=%2C",
            ]
        ),
        Section(
            name: "3.2.9, query continuation",
            examples: [
                "{&who}": "&who=fred", "{&half}": "&half=50%25", "?fixed=yes{&x}": "?fixed=yes&x=1024",
                "{&x,y,empty}": "&x=1024&y=768&empty=", "{&x,y,undef}": "&x=1024&y=768", "{&var:3}": "&var=val",
                "{&list}": "&list=red,green,blue", "{&list*}": "&list=red&list=green&list=blue",
                "{&keys}": "&keys=semi,%3B,dot,.,comma,%2C", "{&keys*}": "&semi=%3B&dot=.&comma=%2C",
            ]
        ),
    ]

    @Test(arguments: levels + expansions)
    func expandsExamplesOfRFC6570(_ section: Section) throws {
        for (template, text) in section.examples {
            #expect(try URITemplate(template).expand(Self.variables) == text, "\(template)")
        }
    }
}
