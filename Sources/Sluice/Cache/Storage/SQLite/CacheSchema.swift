/// The tables of a cache, and how those of older versions become those of this one.
///
/// The version of a file is its `user_version`, 0 for an empty one.
struct CacheSchema: Sendable {
    /// What brings a file from each version to the next, the first from 0 to 1.
    let steps: [[String]]

    /// The version that this program reads and writes.
    var version: Int64 { Int64(steps.count) }

    /// The file's `application_id`, "Slui" in ASCII: it is a cache, and no other program's database.
    static let application: Int64 = 0x536c_7569

    static let current = CacheSchema(steps: [first])

    /// How far an entry's number is shifted to be that of its first piece; the rest numbers its pieces.
    static let pieceBits: Int64 = 20
    /// No entry has a number as large as this, so that none of its pieces' numbers overflows.
    static let entryLimit: Int64 = 1 << 42

    /// An entry is a row that is short and its pieces, which alone are long: the first holds its head and the beginning of its body, or all of
    /// it. Noting that it was asked for then writes little, and looking for what to remove reads little.
    private static let first = [
        """
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY,
            space INTEGER NOT NULL,
            partition BLOB NOT NULL,
            name BLOB NOT NULL,
            variant BLOB NOT NULL,
            stored REAL NOT NULL,
            accessed REAL NOT NULL,
            expires REAL,
            size INTEGER NOT NULL,
            head INTEGER NOT NULL,
            length INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            seal INTEGER NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX entry_key ON entry (space, partition, name, variant)",
        "CREATE INDEX entry_accessed ON entry (accessed)",
        "CREATE INDEX entry_expires ON entry (expires) WHERE expires IS NOT NULL",
        // Numbered by the entry and the place in it.
        "CREATE TABLE piece (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
        "CREATE TABLE tag (name BLOB NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (name, entry)) WITHOUT ROWID",
        "CREATE INDEX tag_entry ON tag (entry)",
        // Entries whose bodies are on their way: nobody sees them, and they outlive their writer by an hour at most.
        """
        CREATE TABLE draft (
            id INTEGER PRIMARY KEY,
            token INTEGER NOT NULL,
            process INTEGER NOT NULL,
            world BLOB NOT NULL,
            touched REAL NOT NULL
        )
        """,
        // Numbers of entries that are gone and whose pieces are still to be removed.
        "CREATE TABLE garbage (low INTEGER PRIMARY KEY, high INTEGER NOT NULL)",
        // Counting a million rows takes a second, so that this is done as they come and go.
        """
        CREATE TABLE total (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            count INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            next INTEGER NOT NULL,
            changes INTEGER NOT NULL
        )
        """,
        "INSERT INTO total VALUES (1, 0, 0, 1, 0)",
    ]
}

extension CacheSchema {
    /// What a file turned out to be.
    enum Verdict: Sendable {
        case current
        /// A later version of this program made it.
        case newer(Int64)
        /// Another program made it.
        case foreign
        /// It has to be migrated and may not be written.
        case older
    }

    /// Brings an open file to this version, in one transaction.
    ///
    /// - Parameters:
    ///   - connection: The file.
    ///   - isReadOnly: Whether it may not be written.
    /// - Returns: What it is now; it was not touched unless it is ``Verdict/current``.
    /// - Throws: Why it cannot be read or written.
    func prepare(_ connection: SQLiteConnection, isReadOnly: Bool) throws(SQLiteFailure) -> Verdict {
        if let verdict = try verdict(on: connection) { return verdict }
        if isReadOnly { return .older }
        try connection.run("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            // Another process may have done it while this one waited.
            let verdict = try verdict(on: connection)
            if verdict == nil { try migrate(connection) }
            try connection.run("COMMIT")
            return verdict ?? .current
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Whether a file that has been opened is still of this version.
    func isThat(of connection: SQLiteConnection) throws(SQLiteFailure) -> Bool {
        try connection.integer("PRAGMA user_version") == version
    }

    /// Nil where it has to be migrated.
    private func verdict(on connection: SQLiteConnection) throws(SQLiteFailure) -> Verdict? {
        let found = try connection.integer("PRAGMA user_version") ?? 0
        let application = try connection.integer("PRAGMA application_id") ?? 0
        if application != Self.application {
            let tables = try connection.integer("SELECT EXISTS (SELECT 1 FROM sqlite_master)") ?? 0
            if tables != 0 || found != 0 { return .foreign }
        }
        if found > version || found < 0 { return .newer(found) }
        return found == version ? .current : nil
    }

    private func migrate(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        let found = Int(try connection.integer("PRAGMA user_version") ?? 0)
        for statement in steps.dropFirst(found).joined() { try connection.execute(statement) }
        try connection.execute("PRAGMA application_id = \(Self.application)")
        try connection.execute("PRAGMA user_version = \(version)")
    }
}
