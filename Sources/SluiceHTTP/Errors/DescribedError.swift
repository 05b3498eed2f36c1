import SluiceFoundation

/// An error whose description is also its `localizedDescription`.
package protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}
