#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The element type of a large JSON array.
package struct Reading: Codable, Sendable {
    package struct Place: Codable, Sendable {
        package let city: String
        package let latitude: Double
        package let longitude: Double
    }

    package let id: Int
    package let name: String
    package let celsius: Double
    package let isValid: Bool
    package let count: Int
    package let note: String?
    package let place: Place
    package let tags: [String]
    package let source: String
    package let weight: Double
}

extension Reading {
    /// Returns a JSON array of about the given number of bytes, each value of its declared type.
    package static func json(bytes: Int) throws -> Data {
        var readings: [Reading] = []
        for index in 0..<(bytes / 250) {
            readings.append(
                Reading(
                    id: 1_000_000 + index,
                    name: "Sensor number \(index)",
                    celsius: Double(index % 400) / 8 - 10,
                    isValid: index % 3 != 0,
                    count: index * 7,
                    note: index % 2 == 0 ? nil : "checked by hand, twice",
                    place: Place(city: "Reykjavík", latitude: 64.125 + Double(index) / 1024, longitude: -21.75),
                    tags: ["indoor", "floor \(index % 9)", "calibrated"],
                    source: "https://example.com/sensors/\(index)",
                    weight: Double(index) * 0.5
                )
            )
        }
        return try JSONEncoder().encode(readings)
    }
}
