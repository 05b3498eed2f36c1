import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fetches a URL and prints the response.
func fetch(_ url: String) async throws(APIError) {
    let response = await APIClient(baseURL: url).data.request("").sender().response
    let body = try response.result.get()
    if let head = response.head { print("\(head.version) \(head.status)\n\(head.headers)") }
    print(String(decoding: body.prefix(1000), as: UTF8.self))
    print("— \(body.count) bytes\(response.metrics.map { " in \($0.total)" } ?? "")")
}
