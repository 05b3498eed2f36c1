#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

struct RedisSealTests {
    private static let key = Secret("0123456789abcdef0123456789abcdef")
    private static let other = Secret("fedcba9876543210fedcba9876543210")

    private static func seal(_ key: Secret = key, encrypts: Bool) throws -> RedisSeal {
        try RedisSeal(key, encrypts: encrypts)
    }

    @Test(arguments: [true, false], [0, 1, 15, 16, 17, 1000, 100_000])
    func valuesOpenUnderTheirName(encrypts: Bool, count: Int) throws {
        let seal = try Self.seal(encrypts: encrypts)
        let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let sealed = try seal.seal(value, as: "name")
        #expect(try seal.open(sealed, as: "name") == value)
        // A slice has other indices.
        #expect(try seal.open((Data([0]) + sealed).dropFirst(), as: "name") == value)
        if count >= 15 { #expect(sealed.firstRange(of: value) == nil || !encrypts) }
    }

    @Test(arguments: [true, false])
    func everyChangedBitIsDetected(encrypts: Bool) throws {
        let seal = try Self.seal(encrypts: encrypts)
        let sealed = try seal.seal(Data("value".utf8), as: "name")
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(throws: RedisSeal.Failure.self) { try seal.open(changed, as: "name") }
            }
        }
        for count in 0..<sealed.count {
            #expect(throws: RedisSeal.Failure.self) { try seal.open(sealed.prefix(count), as: "name") }
        }
        #expect(throws: RedisSeal.Failure.forged) { try seal.open(sealed + [0], as: "name") }
    }

    @Test(arguments: [true, false])
    func valueOfAnotherNameOrKeyDoesNotOpen(encrypts: Bool) throws {
        let seal = try Self.seal(encrypts: encrypts)
        let sealed = try seal.seal(Data("value".utf8), as: "name")
        #expect(throws: RedisSeal.Failure.forged) { try seal.open(sealed, as: "nam") }
        #expect(throws: RedisSeal.Failure.forged) { try seal.open(sealed, as: "namevalue") }
        let other = try Self.seal(Self.other, encrypts: encrypts)
        #expect(throws: RedisSeal.Failure.unknownKey) { try other.open(sealed, as: "name") }
    }

    @Test func plainValuesAndOtherVersionsAreUnknown() throws {
        let seal = try Self.seal(encrypts: false)
        for value in ["", "x", "{\"token\":\"abcdefghijklmnop\"}"] {
            #expect(throws: RedisSeal.Failure.unknownFormat) { try seal.open(Data(value.utf8), as: "name") }
        }
        let encrypting = try Self.seal(encrypts: true)
        let authenticated = try seal.seal(Data("value".utf8), as: "name")
        #expect(throws: RedisSeal.Failure.unknownFormat) { try encrypting.open(authenticated, as: "name") }
        // Encryption can be turned off without losing the values.
        let encrypted = try encrypting.seal(Data("value".utf8), as: "name")
        #expect(try seal.open(encrypted, as: "name") == Data("value".utf8))
    }

    @Test(arguments: [true, false])
    func keysCanBeReplaced(encrypts: Bool) throws {
        let old = try Self.seal(encrypts: encrypts)
        let both = try Self.seal(Self.other, encrypts: encrypts).accepting(Self.key)
        let sealed = try old.seal(Data("value".utf8), as: "name")
        #expect(try both.open(sealed, as: "name") == Data("value".utf8))
        let new = try both.seal(Data("value".utf8), as: "name")
        #expect(throws: RedisSeal.Failure.unknownKey) { try old.open(new, as: "name") }
        #expect(try old.accepting(Self.other).open(new, as: "name") == Data("value".utf8))
    }

    @Test func namesStayWithAKeyOfTheirOwn() throws {
        let old = try RedisSeal(Self.key, nameKey: Self.other)
        let new = try RedisSeal("another key with more than 32 bytes, too", nameKey: Self.other).accepting(Self.key)
        let name = try old.name("token/alice")
        #expect(try new.name("token/alice") == name)
        #expect(try new.open(old.seal(Data("value".utf8), as: name), as: name) == Data("value".utf8))
        #expect(try RedisSeal(Self.key).name("token/alice") != name)
        #expect(throws: RedisSeal.Failure.weakKey) { try RedisSeal(Self.key, nameKey: "short") }
    }

    @Test func equalValuesDifferOnlyIfTheyAreEncrypted() throws {
        let value = Data("value".utf8)
        let encrypting = try Self.seal(encrypts: true)
        #expect(try Set((0..<100).map { _ in try encrypting.seal(value, as: "name") }).count == 100)
        let seal = try Self.seal(encrypts: false)
        #expect(try seal.seal(value, as: "name") == seal.seal(value, as: "name"))
    }

    @Test func namesAndDescriptionsShowNoSecret() throws {
        let seal = try Self.seal(encrypts: true)
        let name = try seal.name("token/alice")
        #expect(name.count == 64 && !name.contains("alice"))
        #expect(try seal.name("token/alice") == name)
        #expect(try seal.name("token/bob") != name)
        #expect(try Self.seal(Self.other, encrypts: true).name("token/alice") != name)
        var dumped = ""
        dump(seal, to: &dumped)
        #expect("\(seal)" == "AES-256-GCM" && !dumped.contains("0123"))
    }

    @Test func shortKeysAreRefused() {
        #expect(throws: RedisSeal.Failure.weakKey) { try RedisSeal("short") }
        #expect(throws: RedisSeal.Failure.weakKey) { try RedisSeal(Self.key).accepting("short") }
    }
}
#endif
