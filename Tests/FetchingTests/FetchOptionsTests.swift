import Fetching
import Testing

@Suite struct FetchOptionsTests {
    private static let hex = String(repeating: "0123456789abcdef", count: 4)

    private static func invocation(_ words: [String], _ files: [String: String] = [:]) throws(UsageError) -> Invocation
    {
        try Invocation(words) { (file) throws(UsageError) in
            guard let text = files[file] else { throw UsageError(description: "“\(file)” cannot be read.") }
            return text
        }
    }

    private static func options(_ words: [String], _ files: [String: String] = [:]) throws -> FetchOptions {
        guard case .fetch(let options) = try invocation(words, files) else { return FetchOptions() }
        return options
    }

    @Test func usesDefaultsWithoutOptions() throws {
        var expected = FetchOptions()
        expected.items = [.init(url: "https://a.example/x"), .init(url: "HTTP://b.example")]
        #expect(try Self.options(["https://a.example/x", "HTTP://b.example"]) == expected)
        #expect(expected.jobs == 4)
        #expect(expected.segments == 1)
        #expect(expected.report == .text)
        #expect(!expected.isQuiet)
        #expect(!expected.overwrites)
        #expect(expected.rateLimit == nil)
    }

    @Test(arguments: [
        ["-o", "f", "-j", "2", "-H", "X: 1"], ["-of", "-j2", "-HX: 1"],
        ["--output", "f", "--jobs", "2", "--header", "X: 1"], ["--output=f", "--jobs=2", "--header=X:1"],
    ])
    func parsesShortAndLongForms(_ words: [String]) throws {
        let options = try Self.options(words + ["http://a"])
        #expect(options.items == [.init(url: "http://a", output: .file("f"))])
        #expect(options.jobs == 2)
        #expect(options.headers == [.init(name: "X", value: "1")])
    }

    @Test func parsesAllOptions() throws {
        let options = try Self.options([
            "http://a", "-d", "dir", "--segments", "8", "--overwrite", "-q", "-H", "A: b:c", "-H", "Empty:",
            "--limit-rate", "200k",
        ])
        #expect(options.directory == "dir")
        #expect(options.segments == 8)
        #expect(options.overwrites)
        #expect(options.report == .text)
        #expect(options.isQuiet)
        #expect(options.rateLimit?.bytesPerSecond == 204_800)
        #expect(options.headers == [.init(name: "A", value: "b:c"), .init(name: "Empty", value: "")])
        #expect(try Self.options(["--json", "http://a"]).report == .json)
    }

    @Test(arguments: [["-q", "--json"], ["--json", "-q"], ["--quiet", "--json"]])
    func quietAndJSONCombineInAnyOrder(_ words: [String]) throws {
        let options = try Self.options(words + ["http://a"])
        #expect(options.report == .json)
        #expect(options.isQuiet)
    }

    @Test func lettersWithoutValuesCombine() throws {
        let options = try Self.options(["-qofile", "http://a"])
        #expect(options.isQuiet)
        #expect(options.items == [.init(url: "http://a", output: .file("file"))])
    }

    @Test func outputsBelongToURLsInOrder() throws {
        let options = try Self.options(["-o", "one", "http://a", "http://b", "-o", "two"])
        #expect(options.items.map(\.output) == [.file("one"), .file("two")])
        for name in ["-", "/dev/stdout"] {
            let options = try Self.options(["-o", name, "http://a"])
            #expect(options.items.map(\.output) == [.standardOutput])
            #expect(options.writesToStandardOutput)
        }
    }

    @Test func onlyTheNullDeviceIsTheOutputOfSeveralURLs() throws {
        let options = try Self.options(["-o", "/dev/null", "http://a", "-o", "/dev/null", "http://b"])
        #expect(options.items.map(\.output) == [.file("/dev/null"), .file("/dev/null")])
        for (one, other) in [("f", "f"), ("f", "./f"), ("d/f", "d//./f"), ("/f", "//f")] {
            let words = ["-o", one, "-o", other, "http://a", "http://b"]
            let error = #expect(throws: UsageError.self) { try Self.options(words) }
            #expect(error?.description.contains("“\(other)” is the --output of several URLs") == true)
        }
        for (one, other) in [("f", "F"), ("f", "/f"), ("f", "d/f"), ("d/../f", "f")] {
            let options = try Self.options(["-o", one, "-o", other, "http://a", "http://b"])
            #expect(options.items.map(\.output) == [.file(one), .file(other)])
        }
    }

    @Test func inputFilesTakeTheirPlaceAmongURLs() throws {
        let files = [
            "list": "# films\n\n  http://b/1 \r\nhttp://b/2#sha256=\(Self.hex)\r\n\t# end", "-": "http://d",
            "empty": "\n",
        ]
        let options = try Self.options(["http://a", "-i", "list", "--input-file=-", "-iempty", "http://e"], files)
        #expect(options.items.map(\.url) == ["http://a", "http://b/1", "http://b/2", "http://d", "http://e"])
        #expect(options.items[2].sha256 == Self.hex)
        let wrong = #expect(throws: UsageError.self) {
            try Self.options(["-i", "list"], ["list": "http://a\n\nftp://b"])
        }
        #expect(wrong?.description == "Line 3 of “list”: “ftp://b” is not an http or https URL.")
        let missing = #expect(throws: UsageError.self) { try Self.options(["-i", "none"]) }
        #expect(missing?.description == "“none” cannot be read.")
    }

    @Test func inputFilesAreReadOnlyForValidOptions() throws {
        var reads = 0
        let read = { (_: String) throws(UsageError) in
            reads += 1
            return "http://a"
        }
        #expect(throws: UsageError.self) { try Invocation(["-i", "-", "--nope"], reading: read) }
        #expect(try Invocation(["-i", "-", "--help"], reading: read) == .help)
        #expect(reads == 0)
        _ = try Invocation(["-i", "-"], reading: read)
        #expect(reads == 1)
    }

    @Test(arguments: [
        (["--json"], true), (["x", "--nope", "--json"], true), (["--", "--json"], false), (["-q"], false), ([], false),
    ])
    func jsonIsRecognisedInInvalidCommandLines(_ words: [String], _ wantsJSON: Bool) {
        #expect(Invocation.wantsJSON(words) == wantsJSON)
    }

    @Test func readsDigestsFromOptionsAndFragments() throws {
        let other = String(repeating: "f", count: 64)
        let fromOptions = try Self.options([
            "http://a", "http://b", "--sha256", Self.hex.uppercased(), "--sha256", other,
        ])
        #expect(fromOptions.items == [.init(url: "http://a", sha256: Self.hex), .init(url: "http://b", sha256: other)])
        let fromFragments = try Self.options(["http://a/x?y=z#sha256=\(Self.hex)", "http://b#top"])
        #expect(fromFragments.items == [.init(url: "http://a/x?y=z", sha256: Self.hex), .init(url: "http://b#top")])
        let both = try Self.options(["http://a#sha256=\(Self.hex)", "--sha256", Self.hex])
        #expect(both.items == [.init(url: "http://a", sha256: Self.hex)])
    }

    @Test(arguments: [
        ("http://a/b/c.mkv", "c.mkv"), ("http://a/b/c.mkv?d=/e#f", "c.mkv"), ("http://a/b/", "http://a/b/"),
        ("http://a", "http://a"), ("http://a/", "http://a/"), ("http://a?b/c", "http://a?b/c"), ("http://", "http://"),
        ("http://a/%E6%98%A0%E7%94%BB%20one.mkv", "映画 one.mkv"), ("http://a/50%25", "50%"), ("http://a/a+b", "a+b"),
        ("http://a/%FF", "%FF"), ("http://a/100%", "100%"), ("http://a/%4", "%4"), ("http://a/%zz", "%zz"),
    ])
    func namesItemByLastPathSegment(url: String, name: String) {
        #expect(FetchOptions.Item(url: url).name == name)
        #expect(FetchOptions.Item(url: url, output: .standardOutput).name == name)
        #expect(FetchOptions.Item(url: url, output: .file("films/one.mkv")).name == "one.mkv")
    }

    @Test(arguments: [["-h"], ["--help"], ["--help", "http://a"], ["-h", "-q"], ["-qh"]])
    func helpOverridesOtherArguments(_ words: [String]) throws {
        #expect(try Self.invocation(words) == .help)
    }

    @Test(arguments: [
        ([], "no URL"), (["-q"], "no URL"), (["--"], "no URL"), (["--", "-o"], "“-o” is not an http"),
        (["file"], "“file” is not an http"), (["ftp://a"], "not an http"), (["http:a"], "not an http"),
        ([""], "“” is not an http"),
        (["http://a", "-x"], "option “-x” is unknown"), (["--nope=1", "http://a"], "option “--nope” is unknown"),
        (["-", "http://a"], "option “-” is unknown"), (["http://a", "-o"], "--output needs a value"),
        (["http://a", "--output="], "--output needs a value"), (["http://a", "-j", "0"], "from 1 to 64, not “0”"),
        (["http://a", "-j", "65"], "from 1 to 64"), (["http://a", "--segments", "two"], "not “two”"),
        (["http://a", "-j", "99999999999999999999"], "from 1 to 64"),
        (["http://a", "-H", "no colon"], "'Name: value'"),
        (["http://a", "-H", ": x"], "'Name: value'"), (["http://a", "--sha256", "abc"], "64 hexadecimal digits"),
        (["http://a#sha256=xyz"], "64 hexadecimal digits"),
        (["http://a", "http://b", "-o", "f"], "URLs is 2, and that of --output 1"),
        (["http://a", "-o", "f", "-o", "g"], "URLs is 1, and that of --output 2"),
        (["http://a", "http://b", "-o", "-", "-o", "f"], "Only one URL"),
        (["http://a", "--json", "-o", "-"], "--json and “--output -” cannot be used together"),
        (["http://a", "--quiet=1"], "--quiet takes no value"), (["http://a", "-qx"], "option “-x” is unknown"),
        (["http://a", "--limit-rate", "fast"], "such as 500k or 1.5M, not “fast”"), (["-i", "none"], "cannot be read"),
        (["http://a", "-i"], "--input-file needs a value"),
        (["http://a", "-o", "f", "-d", "d"], "cannot be used together"),
        (["http://a", "http://b", "--sha256", hex], "URLs is 2, and that of --sha256 1"),
        (["http://a#sha256=\(hex)", "--sha256", String(repeating: "0", count: 64)], "differ"),
    ])
    func rejectsInvalidArgumentsWithReason(_ words: [String], _ sentence: String) {
        let error = #expect(throws: UsageError.self) { try Self.invocation(words) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }
}
