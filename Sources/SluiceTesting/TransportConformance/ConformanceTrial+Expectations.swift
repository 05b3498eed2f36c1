import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ConformanceTrial {
    func expect(_ condition: Bool, _ reason: @autoclosure () -> String) throws(ConformanceFailure) {
        if !condition { throw ConformanceFailure(caseName, reason()) }
    }

    func expectEqual<Value: Equatable>(
        _ value: Value,
        _ expected: Value,
        _ what: String
    ) throws(ConformanceFailure) {
        try expect(value == expected, "\(what) should be \(brief(expected)), but is \(brief(value)).")
    }

    /// Expects a `SluiceError` with the given code, and that the transport still works afterwards.
    @discardableResult
    func expectFailure(
        _ code: SluiceError.Code,
        _ body: () async throws -> Void
    ) async throws -> SluiceError {
        do {
            try await body()
        } catch let error as SluiceError {
            try expectEqual(error.code, code, "The error's code (\(error))")
            try expectEqual(error.step, .transport, "The error's step")
            try await expectTransportWorks()
            return error
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            throw ConformanceFailure(caseName, "Should throw a SluiceError \(code), but threw \(error).")
        }
        throw ConformanceFailure(caseName, "Should fail with \(code), but did not fail.")
    }

    /// Expects an answer to a simple request for another path.
    func expectTransportWorks() async throws {
        let path = "/still-works"
        server.on(.get, path, .text("yes"))
        let answer: Answer
        do throws(SluiceError) {
            answer = try await exchange(request(.get, path))
        } catch {
            throw ConformanceFailure(
                caseName,
                "The transport is of no use after the error: \(error.expandedDescription)"
            )
        }
        try expectEqual(answer.text, "yes", "The answer to a request after the error")
    }

    /// Returns a description of at most 300 characters, because a value can be megabytes long.
    private func brief<Value>(_ value: Value) -> String {
        let text = (value as? String).map { "“\($0)”" } ?? "\(value)"
        return text.count > 300 ? "\(text.prefix(300))…" : text
    }
}

extension Data {
    /// Returns bytes in which a lost, duplicated or moved chunk is detectable.
    static func pattern(_ count: Int) -> Data {
        var state: UInt32 = 1
        let noise = (0..<64 << 10).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        var data = Data(capacity: count)
        while data.count < count {
            // Each block begins with its offset.
            Swift.withUnsafeBytes(of: data.count) { data.append(contentsOf: $0.prefix(count - data.count)) }
            data.append(contentsOf: noise.prefix(count - data.count))
        }
        return data
    }
}
