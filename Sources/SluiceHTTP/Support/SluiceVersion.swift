/// The version of Sluice. This is the only place in the sources that states it.
package enum SluiceVersion {
    /// The version, as the first heading of a release in CHANGELOG.md states it.
    package static let current = "0.1.0"
    /// Name and version as a product of a `User-Agent` field (RFC 9110 §10.1.5).
    package static let product = "Sluice/\(current)"
}
