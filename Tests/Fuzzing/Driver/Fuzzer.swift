import Glibc

/// The entry point that libFuzzer calls for each input. `FUZZ_TARGET` selects the target, and `FUZZ_SECONDS` limits the CPU time.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzer.chosen.check(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}

/// The target of this process.
private struct Fuzzer {
    static let chosen = Fuzzer()

    private let target: FuzzTarget
    private let limit: Double

    private init() {
        let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
            // One name a line, for the script.
            for target in FuzzTarget.all { print(target.name) }
            fflush(nil)
            // libFuzzer reports any other exit as a finding.
            _exit(name == "--list" ? 0 : 64)
        }
        self.target = target
        limit = getenv("FUZZ_SECONDS").flatMap { Double(String(cString: $0)) } ?? .infinity
    }

    func check(_ bytes: UnsafeRawBufferPointer) {
        do {
            try target.check(bytes)
        } catch {
            fatalError("\(target.name): \(error)")
        }
        // On this signal libFuzzer prints its results and exits successfully.
        if limit.isFinite, Fuzzer.cpuSeconds > limit { raise(SIGINT) }
    }

    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
