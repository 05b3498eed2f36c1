import Fetching
import Testing

@Suite struct FetchOptionsTests {
    private static let hex = String(repeating: "0123456789abcdef", count: 4)

    private static func options(_ words: [String]) throws -> FetchOptions {
        guard case .fetch(let options) = try Invocation(words) else { return FetchOptions() }
        return options
    }

    @Test func usesDefaultsWithoutOptions() throws {
        var expected = FetchOptions()
        expected.items = [.init(url: "https://a.example/x"), .init(url: "HTTP://b.example")]
        #expect(try Self.options(["https://a.example/x", "HTTP://b.example"]) == expected)
        #expect(expected.jobs == 4)
        #expect(expected.segments == 1)
        #expect(expected.report == .progress)
        #expect(!expected.overwrites)
    }

    @Test(arguments: [
        ["-o", "f", "-j", "2", "-H", "X: 1"], ["-of", "-j2", "-HX: 1"],
        ["--output", "f", "--jobs", "2", "--header", "X: 1"], ["--output=f", "--jobs=2", "--header=X:1"],
    ])
    func parsesShortAndLongForms(_ words: [String]) throws {
        let options = try Self.options(words + ["http://a"])
        #expect(options.output == "f")
        #expect(options.jobs == 2)
        #expect(options.headers == [.init(name: "X", value: "1")])
    }

    @Test func parsesAllOptions() throws {
        let options = try Self.options([
            "http://a", "-d", "dir", "--segments", "8", "--overwrite", "-q", "-H", "A: b:c", "-H", "Empty:",
        ])
        #expect(options.directory == "dir")
        #expect(options.segments == 8)
        #expect(options.overwrites)
        #expect(options.report == .quiet)
        #expect(options.headers == [.init(name: "A", value: "b:c"), .init(name: "Empty", value: "")])
        #expect(try Self.options(["--json", "http://a"]).report == .json)
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
    ])
    func namesItemByLastPathSegment(url: String, name: String) {
        #expect(FetchOptions.Item(url: url).name == name)
    }

    @Test(arguments: [["-h"], ["--help"], ["--help", "http://a"], ["-h", "-q"]])
    func helpOverridesOtherArguments(_ words: [String]) throws {
        #expect(try Invocation(words) == .help)
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
        (["http://a#sha256=xyz"], "64 hexadecimal digits"), (["http://a", "http://b", "-o", "f"], "one file"),
        (["http://a", "-o", "f", "-d", "d"], "cannot be used together"),
        (["http://a", "http://b", "--sha256", hex], "2 URLs and 1"),
        (["http://a#sha256=\(hex)", "--sha256", String(repeating: "0", count: 64)], "differ"),
    ])
    func rejectsInvalidArgumentsWithReason(_ words: [String], _ sentence: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(words) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }
}
