import CSQLite
import SluiceHTTP

/// The tables of a cache and their migrations.
///
/// The version of a file is its `user_version`; it is 0 for an empty file.
struct CacheSchema: Sendable {
    /// The statements that migrate a file from each version to the next. The first ones create the tables.
    let steps: [[String]]

    var version: Int64 { Int64(steps.count) }

    /// The `application_id` of the file, "Slui" in ASCII. It distinguishes a cache from the database of another
    /// program.
    static let application: Int64 = 0x536c_7569

    static let current = CacheSchema(steps: [first])

    /// The number of bits by which the number of an entry is shifted to get the number of its first piece. The low bits
    /// number the pieces of the entry.
    static let pieceBits: Int64 = 20
    /// The upper bound of entry numbers, so that the numbers of their pieces do not overflow.
    static let entryLimit: Int64 = 1 << 42

    /// An entry consists of a short row and its pieces, which contain the data. The first piece contains the head and
    /// the beginning of the body. Recording an access therefore writes little, and eviction reads little.
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
        // Numbered by entry and position.
        "CREATE TABLE piece (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
        "CREATE TABLE tag (name BLOB NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (name, entry)) WITHOUT ROWID",
        "CREATE INDEX tag_entry ON tag (entry)",
        // The entries whose bodies are still arriving. They are invisible, and are discarded at most an hour after the
        // last write.
        """
        CREATE TABLE draft (
            id INTEGER PRIMARY KEY,
            token INTEGER NOT NULL,
            process INTEGER NOT NULL,
            world BLOB NOT NULL,
            touched REAL NOT NULL
        )
        """,
        // The number ranges of removed entries whose pieces have not been removed yet.
        "CREATE TABLE garbage (low INTEGER PRIMARY KEY, high INTEGER NOT NULL)",
        // Counting a million rows takes a second, so the totals are maintained with each change.
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
    /// The result of checking a file.
    enum Verdict: Sendable {
        case current
        /// The file was created by a later version of this program.
        case newer(Int64)
        /// The file was created by another program.
        case foreign
        /// The file has to be migrated, but may not be written.
        case older
    }

    /// Migrates an open file to the current version, in one transaction.
    ///
    /// - Parameters:
    ///   - connection: The connection to the file.
    ///   - isReadOnly: True if the file may not be written.
    /// - Returns: The result. The file is unchanged unless it is ``Verdict/current``.
    /// - Throws: An error if the file cannot be read or written, or if it contains other objects than the schema.
    func prepare(_ connection: SQLiteConnection, isReadOnly: Bool) throws(SQLiteFailure) -> Verdict {
        if let verdict = try verdict(on: connection) {
            if case .current = verdict { try checkObjects(of: connection) }
            return verdict
        }
        if isReadOnly { return .older }
        try connection.run("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            // Another process may have migrated the file while this one waited.
            var verdict = try verdict(on: connection)
            if verdict == nil {
                try migrate(connection)
                verdict = .current
            }
            if case .current = verdict { try checkObjects(of: connection) }
            try connection.run("COMMIT")
            return verdict ?? .current
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Returns true if an open file still has the current version.
    func isCurrent(in connection: SQLiteConnection) throws(SQLiteFailure) -> Bool {
        try connection.integer("PRAGMA user_version") == version
    }

    /// Returns the result of checking a file; nil if it has to be migrated.
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

    /// Throws an error if a file contains triggers, views, tables or indices that the schema does not create.
    ///
    /// A trigger would run with each change to the cache, and a view in the place of a table with each read.
    private func checkObjects(of connection: SQLiteConnection) throws(SQLiteFailure) {
        let model = try SQLiteConnection()
        for statement in steps.joined() { try model.execute(statement) }
        let expected = try Self.objects(of: model, atMost: .max)
        guard try Self.objects(of: connection, atMost: expected.count + 1) == expected else {
            throw SQLiteFailure(
                SQLITE_CORRUPT,
                "it contains triggers, views, tables or indices that the cache has not created"
            )
        }
    }

    /// Returns the objects of a database, each as its type, name, table and SQL.
    private static func objects(
        of connection: SQLiteConnection,
        atMost limit: Int
    ) throws(SQLiteFailure) -> Set<[[UInt8]]> {
        try connection.withStatement(
            "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?",
            [.integer(Int64(clamping: limit))]
        ) { statement throws(SQLiteFailure) in
            var objects: Set<[[UInt8]]> = []
            while try statement.step() { objects.insert((0..<4).map { Array(statement.bytes($0)) }) }
            return objects
        }
    }

    private func migrate(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        let found = Int(try connection.integer("PRAGMA user_version") ?? 0)
        for statement in steps.dropFirst(found).joined() { try connection.execute(statement) }
        try connection.execute("PRAGMA application_id = \(Self.application)")
        try connection.execute("PRAGMA user_version = \(version)")
    }
}
