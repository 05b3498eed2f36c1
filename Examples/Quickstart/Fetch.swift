import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fetches a URL and prints the response, without the secrets in its header fields.
func fetch(_ url: String) async throws(APIError) {
    let response = await APIClient(baseURL: url).data.request("").sender().response
    let body = try response.result.get()
    if let head = response.head {
        print("\(head.version) \(head.status)")
        for field in Redaction.standard.headers(head.headers) { print(plain("\(field.name): \(field.value)")) }
    }
    print(plain(String(decoding: body.prefix(1000), as: UTF8.self)))
    print("— \(body.count) bytes\(response.metrics.map { " in \($0.total)" } ?? "")")
}

/// Returns a text without the control characters that a terminal would interpret.
private func plain(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where scalar != "\r" {
        let isPlain = scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
        scalars.append(isPlain ? scalar : "\u{FFFD}")
    }
    return String(scalars)
}
