import Measuring
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SluiceBench {
    func upload(file: String, to path: String) async throws -> Bool? {
        let request = client.data.upload(path, fromFile: URL(filePath: file)).put()
        _ = try await request.timeouts(Timeouts(total: .seconds(300))).sender().value
        return true
    }
}
