import Foundation
import SluiceTesting
import SluiceURLSession
import Testing

@Suite struct ScratchTests {
    @Test func scratch() async throws {
        guard let text = ProcessInfo.processInfo.environment["CASES"] else { return }
        let all = TransportConformance.cases
        for index in text.split(separator: ",").compactMap({ Int($0) }) where index < all.count {
            print("CASE \(index) \(all[index].name)")
            do {
                let start = ContinuousClock.now
                try await TransportConformance.run(all[index], within: .seconds(12)) { URLSessionTransport() }
                print("PASS \(index) \(all[index].name) \(ContinuousClock.now - start)")
            } catch {
                print("FAIL \(index) \(error)")
            }
        }
        print("COUNT \(all.count)")
    }
}
