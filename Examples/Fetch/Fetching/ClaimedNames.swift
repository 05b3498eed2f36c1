/// The names of the files that the downloads of one command write, so that none of them replaces the file of another one.
public struct ClaimedNames: Sendable, Equatable {
    /// The downloads by the letters and digits of their names. Files of other names may also be the same: characters that a file
    /// system does not allow are replaced, long names are cut, and a file system may ignore the case.
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
    /// - Returns: False if another download has the name, or one that may be the same.
    public mutating func claim(_ name: String, for index: Int) -> Bool {
        let key = String(name.lowercased().filter { $0.isLetter || $0.isNumber }.prefix(60))
        if let holder = holders[key], holder != index {
            refused.insert(index)
            return false
        }
        holders[key] = index
        return true
    }

    /// Returns the name of a file whose server suggests none: the decoded last segment of the path.
    public static func name(ofPath path: String) -> String {
        let segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        return segments.last.map { PercentEncodedText.decoded($0) } ?? "download"
    }
}
