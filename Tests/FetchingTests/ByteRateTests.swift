import Fetching
import Testing

@Suite struct ByteRateTests {
    @Test(
        arguments: [
            ("1", 1), ("500", 500), ("200k", 204_800), ("200K", 204_800), ("3m", 3_145_728), ("1G", 1_073_741_824),
            ("1.5M", 1_572_864), ("0.5k", 512), ("1048576G", 1_125_899_906_842_624), ("0", nil), ("0.0001k", nil),
            ("1048577G", nil), ("", nil), ("k", nil), (".", nil), ("1.", nil), (".5k", nil), ("1.2.3", nil),
            ("-1", nil),
            ("+1", nil), ("1e3", nil), ("0x10", nil), ("inf", nil), ("nan", nil), ("1kk", nil), ("1 k", nil),
            ("１", nil),
            (String(repeating: "9", count: 400), nil),
        ] as [(String, Double?)]
    )
    func parsesRatesOfCurl(text: String, bytesPerSecond: Double?) {
        #expect(ByteRate(text)?.bytesPerSecond == bytesPerSecond)
    }

    @Test func bytesOfAllDownloadsShareOnePace() throws {
        var pace = Pace(try #require(ByteRate("1000")))
        let start = ContinuousClock.now
        #expect(pace.pieceSize == 50)
        #expect(pace.reserve(50, at: start) == start + .milliseconds(50))
        // Two downloads take turns. Each piece of 50 bytes takes 50 ms.
        let times = (1...40).map { _ in pace.reserve(50, at: start) }
        let distances = zip(times, times.dropFirst()).map { $0.duration(to: $1) }
        #expect(distances.allSatisfy { $0 == .milliseconds(50) })
    }

    @Test func lateReaderMakesUpForShortDelaysOnly() throws {
        var pace = Pace(try #require(ByteRate("1000")))
        let start = ContinuousClock.now
        let first = pace.reserve(50, at: start)
        #expect(
            pace.reserve(50, at: first + .milliseconds(60)) == first + .milliseconds(50),
            "a short delay is made up"
        )
        let late = start + .seconds(60)
        var passed = 0
        while pace.reserve(50, at: late) <= late { passed += 50 }
        #expect(passed == 200, "the bytes of 200 ms")
    }

    @Test(arguments: ["1", "10", "1k", "200k", "5M", "1G", "1048576G"])
    func pieceOfAnyRatePassesWithinASecond(text: String) throws {
        var pace = Pace(try #require(ByteRate(text)))
        #expect((1...65_536).contains(pace.pieceSize))
        let start = ContinuousClock.now
        let times = (1...10).map { _ in pace.reserve(pace.pieceSize, at: start) }
        for (time, next) in zip(times, times.dropFirst()) { #expect(time.duration(to: next) <= .seconds(1)) }
    }

    @Test func speedIsThatOfTheLastSeconds() {
        var meter = SpeedMeter()
        let start = ContinuousClock.now
        #expect(meter.bytesPerSecond == nil)
        meter.record(0, at: start)
        meter.record(100, at: start + .milliseconds(400))
        #expect(meter.bytesPerSecond == nil)
        meter.record(1000, at: start + .seconds(1))
        #expect(meter.bytesPerSecond == 1000)
        for second in 2...10 { meter.record(1000 + Int64(second - 1) * 500, at: start + .seconds(second)) }
        #expect(meter.bytesPerSecond == 500)
    }
}
