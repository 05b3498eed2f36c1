import SluiceHTTP
import Testing

@Suite struct HexTextTests {
    @Test func digitsEqualThoseOfStandardLibrary() {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<2000 {
            let number = round < 16 ? UInt64(round) &* 0x1111_1111_1111_1111 : generator.next()
            for digits in [1, 2, 7, 8, 9, 15, 16] {
                let kept = digits == 16 ? number : number & (1 << (4 * UInt64(digits)) - 1)
                let text = String(kept, radix: 16)
                let expected = String(repeating: "0", count: digits - text.count) + text
                #expect(HexText.text(length: digits) { $0.append(number, digits: digits) } == expected)
            }
        }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17])
    func charactersBeyondTheLengthAreDropped(_ length: Int) {
        let text = HexText.text(length: length) {
            $0.append(0x0123_4567_89AB_CDEF, digits: 16)
            $0.append("-")
        }
        #expect(text == "0123456789abcdef-".prefix(length))
    }
}
