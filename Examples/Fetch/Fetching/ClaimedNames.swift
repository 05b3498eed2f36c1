/// The names of the files that the downloads of one command write, so that none of them replaces the file of another one.
public struct ClaimedNames: Sendable, Equatable {
    private var holders: [String: Int] = [:]
    /// The downloads that have not got a name, because another one had it.
    public private(set) var refused: Set<Int> = []

    /// Creates an empty set.
    public init() {}

    /// Claims a name for a download, which may claim it again.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - index: The index of the download.
    /// - Returns: False if another download has the name.
    public mutating func claim(_ name: String, for index: Int) -> Bool {
        #if canImport(Darwin)
        // The file system usually ignores the case.
        let key = name.lowercased()
        #else
        let key = name
        #endif
        if let holder = holders[key], holder != index {
            refused.insert(index)
            return false
        }
        holders[key] = index
        return true
    }
}
