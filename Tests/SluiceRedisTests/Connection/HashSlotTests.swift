import Foundation
import SluiceRedis
import Testing

struct HashSlotTests {
    private static func slot(_ key: String) -> Int { HashSlot(key: Data(key.utf8)).number }

    @Test(arguments: [
        // The test value of the specification: CRC16 of these digits is 0x31C3.
        ("123456789", 0x31C3), ("foo", 12_182), ("bar", 5061), ("", 0), ("hello", 866),
    ])
    func slotsAreThoseOfTheSpecification(key: String, slot: Int) {
        #expect(Self.slot(key) == slot)
    }

    @Test(arguments: [
        ("{user1000}.following", "user1000"), ("a{user1000}", "user1000"), ("foo{{bar}}zap", "{bar"),
        ("foo{bar}{zap}", "bar"), ("}{a}", "a"), ("{a", "{a"), ("a}", "a}"),
    ])
    func tagDecides(key: String, tag: String) {
        #expect(Self.slot(key) == HashSlot(key: Data(tag.utf8)).number)
    }

    @Test func emptyTagIsNone() {
        #expect(Self.slot("foo{}{bar}") != Self.slot("bar"))
        #expect(Self.slot("foo{}{bar}") == 8363)
    }

    @Test func numbersAreLimited() {
        #expect(HashSlot(0)?.number == 0 && HashSlot(16_383)?.number == 16_383)
        #expect(HashSlot(-1) == nil && HashSlot(16_384) == nil)
    }
}
