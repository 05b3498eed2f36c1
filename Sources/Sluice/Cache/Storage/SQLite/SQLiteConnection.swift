import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open database with its prepared statements. It must be used by one thread at a time.
final class SQLiteConnection {
    enum Access: Sendable {
        case readWrite
        /// The file may not be written through this connection, but others may write to it.
        case readOnly
        /// No process writes to the file: locks and logs are ignored.
        case immutable
    }

    private let database: OpaquePointer
    /// The prepared statements by the addresses of their SQL literals, which is faster than comparing the text.
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]

    /// Opens an existing file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - access: The access mode.
    ///   - patience: The time in milliseconds to wait for the locks of other connections.
    /// - Throws: An error if the file cannot be opened. Its contents are not checked.
    init(path: String, access: Access, patience: Int) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        // SQLite's own mutex is unnecessary, because one thread uses the connection at a time.
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        flags |= access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        var name = path
        if access == .immutable {
            flags |= SQLITE_OPEN_URI
            name = Self.immutableURI(of: path)
        }
        let code = sqlite3_open_v2(name, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let failure = SQLiteFailure(code, of: opened)
            sqlite3_close_v2(opened)
            throw failure
        }
        database = opened
        sqlite3_extended_result_codes(opened, 1)
        try wait(upTo: patience)
        // Without this option, the last connection to close the file removes the log by its path, which may belong to
        // another file by then.
        var isOn: Int32 = 1
        try check(sqlite3_file_control(opened, "main", SQLITE_FCNTL_PERSIST_WAL, &isOn))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_DEFENSIVE, 1))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement.pointer) }
        sqlite3_close_v2(database)
    }

    private static func immutableURI(of path: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            let isPlain = byte == UInt8(ascii: "/") || byte.isTokenCharacter && byte != UInt8(ascii: "%")
            let digits = String(byte, radix: 16)
            uri +=
                isPlain && byte != UInt8(ascii: "#") ? String(Unicode.Scalar(byte)) : (byte < 16 ? "%0" : "%") + digits
        }
        return uri + "?immutable=1"
    }

    /// Installs a busy handler. SQLite's own sleeps for increasing times and may miss the short pauses of a busy
    /// writer.
    private func wait(upTo patience: Int) throws(SQLiteFailure) {
        try check(
            sqlite3_busy_handler(
                database,
                { patience, count in
                    guard Int(count) < Int(bitPattern: patience) else { return 0 }
                    usleep(1000)
                    return 1
                },
                UnsafeMutableRawPointer(bitPattern: patience)
            )
        )
    }

    /// True if SQLite has opened the file read-only, regardless of the requested access.
    var isReadOnly: Bool { sqlite3_db_readonly(database, "main") != 0 }

    /// Returns a statement that is prepared once and has no bound values.
    func statement(_ sql: StaticString) throws(SQLiteFailure) -> SQLiteStatement {
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try prepare(sql.description, isKept: true)
        statements[sql.utf8Start] = statement
        return statement
    }

    /// Runs a statement with bound values.
    func run(_ sql: StaticString, _ values: SQLiteStatement.Value...) throws(SQLiteFailure) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Returns the number in the first column of the first row; nil if there is no row.
    func integer(_ sql: StaticString, _ values: SQLiteStatement.Value...) throws(SQLiteFailure) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Calls a closure with a statement that is prepared for this call only.
    func withStatement<Result>(
        _ sql: String,
        _ values: [SQLiteStatement.Value] = [],
        _ body: (SQLiteStatement) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result {
        let statement = try prepare(sql, isKept: false)
        defer { sqlite3_finalize(statement.pointer) }
        try statement.bind(values)
        return try body(statement)
    }

    /// Runs a statement that is prepared for this call only.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try withStatement(sql) { statement throws(SQLiteFailure) in try statement.run() }
    }

    /// Rolls back the current transaction, if there is one.
    func rollBack() {
        // Some failures have already rolled back the transaction. Errors of the rollback are ignored.
        if sqlite3_get_autocommit(database) == 0 { try? run("ROLLBACK") }
    }

    private func prepare(_ sql: String, isKept: Bool) throws(SQLiteFailure) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(database, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            // The SQL is correct, so this error means that tables are missing.
            throw SQLiteFailure(code, of: database, isCorruption: code & 0xff == SQLITE_ERROR)
        }
        return SQLiteStatement(prepared, of: database)
    }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(code, of: database) }
    }
}
