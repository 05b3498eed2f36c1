import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open database with its prepared statements, for one thread at a time.
final class SQLiteConnection {
    enum Access: Sendable {
        case readWrite
        /// The file may not be written, others may yet do so.
        case readOnly
        /// Nobody writes the file: neither locks nor a log are looked at.
        case immutable
    }

    private let database: OpaquePointer
    /// By where in the program they stand, which costs less than to compare them.
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]

    /// Opens a file that is there.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - access: What may be done to it.
    ///   - patience: How many milliseconds it waits for a lock of another's.
    /// - Throws: Why it cannot be opened; what is in it is not looked at yet.
    init(path: String, access: Access, patience: Int) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        // A lock of SQLite's own would be held and given back for each call: there is one thread at a time here.
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
        // Were the last to close the file to remove its log by name, it might be another file's by then.
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

    /// SQLite's own waiting sleeps longer and longer, and may miss all the short pauses of a busy writer.
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

    /// Whether SQLite opened it for reading only, whatever was asked for.
    var isReadOnly: Bool { sqlite3_db_readonly(database, "main") != 0 }

    /// A statement that is prepared once, with nothing in the places of its `?` yet.
    func statement(_ sql: StaticString) throws(SQLiteFailure) -> SQLiteStatement {
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try prepare(sql.description, isKept: true)
        statements[sql.utf8Start] = statement
        return statement
    }

    /// Does a statement with values in the places of its `?`.
    func run(_ sql: StaticString, _ values: SQLiteStatement.Value...) throws(SQLiteFailure) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
    }

    /// The number that a statement's first row begins with; nil where there is no row.
    func integer(_ sql: StaticString, _ values: SQLiteStatement.Value...) throws(SQLiteFailure) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Does something with a statement that is prepared for this once.
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

    /// Does a statement that is prepared for this once.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try withStatement(sql) { statement throws(SQLiteFailure) in try statement.run() }
    }

    /// Takes back what a transaction has done, if there is one.
    func rollBack() {
        // Some failures have done so already, and there is nothing to be done about others.
        if sqlite3_get_autocommit(database) == 0 { try? run("ROLLBACK") }
    }

    private func prepare(_ sql: String, isKept: Bool) throws(SQLiteFailure) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(database, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            // The statements are sound: it is the tables that are not there.
            throw SQLiteFailure(code, of: database, isCorruption: code & 0xff == SQLITE_ERROR)
        }
        return SQLiteStatement(prepared, of: database)
    }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(code, of: database) }
    }
}
