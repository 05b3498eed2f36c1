import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct EntryHeadTests {
    static let response = StoredResponse(
        method: "PURGE",
        url: "https://example.com/a?b=ä#\u{0}",
        identity: "digest",
        head: HTTPResponse(
            status: HTTPStatus(rawValue: 299),
            headers: ["Content-Type": "text/plain", "Set-Cookie": "a=1, b", "Set-Cookie": "", "X": "ü \u{1F600}"],
            version: HTTPVersion(major: 2, minor: 7)
        ),
        requested: Date(timeIntervalSinceReferenceDate: 1.000000001),
        received: Date(timeIntervalSinceReferenceDate: -1e300),
        part: StoredPart(range: 5..<Int64.max, total: -1)
    )

    static let heads: [EntryHead] = [
        EntryHead(stored: .distantPast, renewal: nil, tags: [], response: nil),
        EntryHead(stored: .distantFuture, renewal: .seconds(Int64.max), tags: ["", "a", "\u{0}"], response: nil),
        EntryHead(
            stored: Date(timeIntervalSinceReferenceDate: .infinity),
            renewal: Duration(attoseconds: .min),
            tags: Set((0..<300).map { String(repeating: "t", count: $0) }),
            response: response
        ),
        EntryHead(
            stored: .distantPast,
            renewal: nil,
            tags: ["a"],
            memory: .init(term: .after(.seconds(60)), isExtended: true)
        ),
        EntryHead(stored: .distantPast, tags: [], memory: .init(term: .never)),
        EntryHead(stored: .distantPast, renewal: .zero, tags: [], memory: .init(term: .date(.distantFuture))),
        EntryHead(
            stored: Date(timeIntervalSinceReferenceDate: 0),
            renewal: .zero,
            tags: [],
            response: StoredResponse(
                method: .get,
                url: "",
                head: HTTPResponse(status: HTTPStatus(rawValue: .min), version: HTTPVersion(major: .max, minor: .min)),
                requested: Date(timeIntervalSinceReferenceDate: -.infinity),
                received: Date(timeIntervalSinceReferenceDate: -0.0)
            )
        ),
    ]

    private static func decoded(_ bytes: some Collection<UInt8>) -> EntryHead? {
        Array(bytes).withUnsafeBytes { EntryHead($0) }
    }

    @Test(arguments: heads.indices)
    func encodedHeadsAreDecoded(index: Int) throws {
        let head = Self.heads[index]
        let read = try #require(Self.decoded(head.encoded()))
        #expect(read.stored == head.stored)
        #expect(read.renewal == head.renewal)
        #expect(read.tags == head.tags)
        #expect(read.memory == head.memory)
        let (response, readResponse) = (head.response, read.response)
        #expect(readResponse?.method == response?.method)
        #expect(readResponse?.url == response?.url)
        #expect(readResponse?.identity == response?.identity)
        #expect(readResponse?.head.status == response?.head.status)
        #expect(readResponse?.head.headers == response?.head.headers)
        #expect(readResponse?.head.version == response?.head.version)
        #expect(readResponse?.requested == response?.requested)
        #expect(readResponse?.received == response?.received)
        #expect(readResponse?.part == response?.part)
    }

    @Test(arguments: heads.indices)
    func truncatedOrExtendedBytesAreNotDecoded(index: Int) {
        let bytes = Self.heads[index].encoded()
        let isRead = (0..<min(bytes.count, 2000)).contains { Self.decoded(bytes.prefix($0)) != nil }
        #expect(!isRead)
        #expect(Self.decoded(bytes + [0]) == nil)
    }

    @Test func otherVersionsAreNotDecoded() {
        let bytes = Self.heads[0].encoded()
        #expect(Self.decoded([2] + bytes.dropFirst()) == nil)
        #expect(Self.decoded([1, 0x80] + bytes.dropFirst(2)) == nil, "unknown part")
    }

    @Test func rangeWithEndBeforeStartIsNotDecoded() throws {
        let response = StoredResponse(
            method: .get,
            url: "",
            head: HTTPResponse(status: .ok),
            requested: .distantPast,
            received: .distantPast,
            part: StoredPart(range: 0x0102_0304..<0x0102_0305, total: 9)
        )
        var bytes = EntryHead(stored: .distantPast, renewal: nil, tags: [], response: response).encoded()
        let place = try #require(Data(bytes).range(of: Data([5, 3, 2, 1]))?.lowerBound)
        bytes[place] = 0
        #expect(Self.decoded(bytes) == nil)
    }

    @Test(arguments: [UInt64](0..<20))
    func randomBytesDoNotTrap(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = Self.heads[2].encoded().suffix(600)
        var head = [UInt8](Self.heads[6].encoded() + bytes)
        for _ in 0..<2000 {
            let index = Int.random(in: 0..<head.count, using: &random)
            head[index] = UInt8.random(in: .min ... .max, using: &random)
            head[0] = EntryHead.version
            head[1] &= EntryHead.Parts.all.rawValue
            _ = Self.decoded(head)
        }
    }

    @Test func checksumsDifferByKeyVariantAndExpiration() {
        let keys = [
            CacheKey("bc", partition: "a"), CacheKey("c", partition: "ab"), CacheKey("abc"),
            CacheKey("bc", in: .http, partition: "a"),
        ]
        let sums = keys.map { EntryChecksum($0, variant: "").value } + [EntryChecksum(keys[0], variant: "v").value]
        #expect(Set(sums).count == sums.count)
        let sum = EntryChecksum(keys[0], variant: "")
        #expect(Set([sum.seal(until: nil), sum.seal(until: 0), sum.seal(until: 1), sum.value]).count == 4)
    }
}
