import CSQLite
import Dispatch
import SluiceHTTP
import SluiceLibc

/// SQLite's functions. The first use loads the library.
var sqlite: sluice_sqlite { sluice_sqlite().pointee }

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
    /// The running time of the current statement, for the progress handler of SQLite.
    private let watch: UnsafeMutablePointer<StatementWatch>
    /// True if the limit applies to all statements since ``beginWork()`` together, rather than to each.
    private let limitsWork: Bool
    /// The prepared statements by the addresses of their SQL literals, which is faster than comparing the text.
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]

    /// Opens an existing file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - access: The access mode.
    ///   - busyTimeout: The time in milliseconds to wait for the locks of other connections.
    ///   - limit: The time after which a statement is interrupted, not counting waits for the disk without progress.
    ///   - limitsWork: True if the limit applies to all statements since ``beginWork()`` together.
    /// - Throws: An error if the file cannot be opened. Its contents are not checked.
    init(
        path: String,
        access: Access,
        busyTimeout: Int,
        limit: Duration = .seconds(10),
        limitsWork: Bool = false
    ) throws(SQLiteFailure) {
        var flags = access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        var name = path
        if access == .immutable {
            flags |= SQLITE_OPEN_URI
            name = Self.immutableURI(of: path)
        }
        let opened = try Self.opened(name, flags)
        database = opened
        self.limitsWork = limitsWork
        watch = .allocate(capacity: 1)
        watch.initialize(to: StatementWatch(limit))
        try wait(upTo: busyTimeout)
        sqlite.sqlite3_progress_handler(
            opened,
            StatementWatch.interval,
            { watch in watch?.assumingMemoryBound(to: StatementWatch.self).pointee.isOverdue() == true ? 1 : 0 },
            watch
        )
        // Without this option, the last connection to close the file removes the log by its path, which may belong to
        // another file by then.
        var isOn: Int32 = 1
        try check(sqlite.sqlite3_file_control(opened, "main", SQLITE_FCNTL_PERSIST_WAL, &isOn))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_DEFENSIVE, 1))
        try check(sluice_configure(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    }

    /// Creates an empty database in memory.
    init() throws(SQLiteFailure) {
        database = try Self.opened(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY)
        limitsWork = false
        watch = .allocate(capacity: 1)
        watch.initialize(to: StatementWatch(.zero))
    }

    deinit {
        for statement in statements.values { _ = sqlite.sqlite3_finalize(statement.pointer) }
        _ = sqlite.sqlite3_close_v2(database)
        watch.deinitialize(count: 1)
        watch.deallocate()
    }

    private static func opened(_ name: String, _ flags: Int32) throws(SQLiteFailure) -> OpaquePointer {
        guard sqlite.is_complete != 0 else {
            throw SQLiteFailure(SQLITE_CANTOPEN, "the library \(String(cString: sqlite.file)) could not be loaded")
        }
        var opened: OpaquePointer?
        // SQLite's own mutex is unnecessary, because one thread uses the connection at a time.
        let code = sqlite.sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nil)
        guard code == SQLITE_OK, let opened else {
            let failure = SQLiteFailure(code, of: opened)
            _ = sqlite.sqlite3_close_v2(opened)
            throw failure
        }
        _ = sqlite.sqlite3_extended_result_codes(opened, 1)
        return opened
    }

    /// Begins to measure the time of the following statements anew.
    func beginWork() {
        watch.pointee.restart()
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
    func wait(upTo busyTimeout: Int) throws(SQLiteFailure) {
        try check(
            sqlite.sqlite3_busy_handler(
                database,
                { busyTimeout, count in
                    guard Int(count) < Int(bitPattern: busyTimeout) else { return 0 }
                    usleep(1000)
                    return 1
                },
                UnsafeMutableRawPointer(bitPattern: busyTimeout)
            )
        )
    }

    /// True if SQLite has opened the file read-only, regardless of the requested access.
    var isReadOnly: Bool { sqlite.sqlite3_db_readonly(database, "main") != 0 }

    /// Returns a statement that is prepared once and has no bound values.
    func statement(_ sql: StaticString) throws(SQLiteFailure) -> SQLiteStatement {
        if !limitsWork { beginWork() }
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try prepare(sql.description, isPersistent: true)
        statements[sql.utf8Start] = statement
        return statement
    }

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
        if !limitsWork { beginWork() }
        let statement = try prepare(sql, isPersistent: false)
        defer { _ = sqlite.sqlite3_finalize(statement.pointer) }
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
        if sqlite.sqlite3_get_autocommit(database) == 0 { try? run("ROLLBACK") }
    }

    private func prepare(_ sql: String, isPersistent: Bool) throws(SQLiteFailure) -> SQLiteStatement {
        var prepared: OpaquePointer?
        let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite.sqlite3_prepare_v3(database, sql, -1, flags, &prepared, nil)
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

/// A prepared statement of a connection, which must outlive it. It must be used by one thread at a time.
struct SQLiteStatement {
    /// A value to bind to a parameter.
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        /// The UTF-8 bytes of a string as a blob, because SQLite's strings may not contain NUL.
        case string(String)
    }

    let pointer: OpaquePointer
    private let database: OpaquePointer

    init(_ pointer: OpaquePointer, of database: OpaquePointer) {
        self.pointer = pointer
        self.database = database
    }

    /// Binds values to `?1`, `?2` and so on.
    func bind(_ values: Value...) throws(SQLiteFailure) {
        try bind(values)
    }

    func bind(_ values: [Value]) throws(SQLiteFailure) {
        var index: Int32 = 0
        for value in values {
            index += 1
            switch value {
            case .null: try check(sqlite.sqlite3_bind_null(pointer, index))
            case .integer(let value): try check(sqlite.sqlite3_bind_int64(pointer, index, value))
            case .real(let value): try check(sqlite.sqlite3_bind_double(pointer, index, value))
            case .string(var value):
                try check(
                    value.withUTF8 {
                        bindBytes(UnsafeRawBufferPointer($0), at: index) { sluice_bind_blob($0, $1, $2, $3) }
                    }
                )
            }
        }
    }

    /// Binds bytes without copying them. They must remain valid until the statement is reset.
    func bind(noCopy bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteFailure) {
        try check(bindBytes(bytes, at: index) { sqlite.sqlite3_bind_blob64($0, $1, $2, $3, nil) })
    }

    /// Binds bytes. SQLite treats a null pointer as NULL, so an empty blob is bound as a zero-length blob.
    private func bindBytes(
        _ bytes: UnsafeRawBufferPointer,
        at index: Int32,
        _ bind: (OpaquePointer, Int32, UnsafeRawPointer, UInt64) -> Int32
    ) -> Int32 {
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite.sqlite3_bind_zeroblob(pointer, index, 0)
        }
        return bind(pointer, index, base, UInt64(bytes.count))
    }

    /// Steps to the next row. Returns false if there is none.
    func step() throws(SQLiteFailure) -> Bool {
        switch sqlite.sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case SQLITE_INTERRUPT: throw SQLiteFailure(SQLITE_INTERRUPT, "a statement ran for too long and was interrupted")
        case let code: throw SQLiteFailure(code, of: database)
        }
    }

    /// Runs the statement to its end and resets it.
    func run() throws(SQLiteFailure) {
        defer { reset() }
        while try step() {}
    }

    /// Resets the statement and clears its bound values.
    func reset() {
        // Returns the same error that `step()` has thrown, so its result is ignored.
        _ = sqlite.sqlite3_reset(pointer)
        _ = sqlite.sqlite3_clear_bindings(pointer)
    }

    /// Returns a number in the current row; 0 for NULL.
    func integer(_ column: Int32) -> Int64 { sqlite.sqlite3_column_int64(pointer, column) }

    /// Returns a number in the current row; nil for NULL.
    func real(_ column: Int32) -> Double? {
        isNull(column) ? nil : sqlite.sqlite3_column_double(pointer, column)
    }

    func isNull(_ column: Int32) -> Bool { sqlite.sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// Returns the bytes in the current row. They are valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // The order matters: reading the blob may convert the value and change its size.
        guard let base = sqlite.sqlite3_column_blob(pointer, column) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite.sqlite3_column_bytes(pointer, column)))
    }

    /// Returns the string in the current row.
    func string(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(code, of: database) }
    }
}

/// The running time of a statement, which SQLite asks for after every few instructions of its virtual machine.
///
/// A file can be crafted so that a statement never ends. The queue of the connection would then be blocked for ever.
struct StatementWatch {
    /// The number of instructions between two questions. Few statements have that many, so most read no clock.
    static let interval: Int32 = 1000

    private let limit: UInt64
    /// The time of the first question, in nanoseconds; nil before it.
    private var began: UInt64?

    init(_ limit: Duration) {
        self.limit = UInt64(clamping: limit.attoseconds / 1_000_000_000)
    }

    mutating func restart() {
        began = nil
    }

    /// Returns true if the statement has been running for longer than the limit.
    mutating func isOverdue(now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Bool {
        guard let began else {
            began = now
            return limit == 0
        }
        return now &- began >= limit
    }
}

// MARK: - Errors

struct SQLiteFailure: Error, Hashable {
    /// The extended result code.
    let code: Int32
    /// The error message of SQLite, which contains no data.
    let message: String
    /// True if the file is damaged or not a database.
    let isCorruption: Bool

    init(_ code: Int32, _ message: String, isCorruption: Bool = false) {
        self.code = code
        self.message = message
        let kinds = [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_MISMATCH]
        self.isCorruption = isCorruption || kinds.contains(code & 0xff)
    }

    /// Creates an error from the last call on a connection.
    init(_ code: Int32, of database: OpaquePointer?, isCorruption: Bool = false) {
        // SQLite calls a file damaged that the disk does not read.
        if code & 0xff == SQLITE_CORRUPT, let error = Self.readError(of: database) {
            self.init(SQLITE_IOERR, "the disk cannot be read: \(error)")
            return
        }
        let message = sqlite.sqlite3_errmsg(database).map { String(cString: $0) }
        self.init(code, message ?? "out of memory", isCorruption: isCorruption)
    }

    /// Returns the last error of reading the database file or its log, if SQLite takes it for damage.
    private static func readError(of database: OpaquePointer?) -> SystemError? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        for operation in [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER] {
            var number: Int32 = 0
            guard sqlite.sqlite3_file_control(database, "main", operation, &file) == SQLITE_OK,
                let control = file?.pointee.pMethods?.pointee.xFileControl,
                control(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK
            else { continue }
            if [EIO, ENXIO, ERANGE].contains(number) { return SystemError(number: number) }
        }
        return nil
    }

    /// Returns the error for a value that no version of the cache writes.
    static func malformed(_ subject: String) -> SQLiteFailure {
        SQLiteFailure(SQLITE_CORRUPT, "\(subject) in the database is malformed")
    }

    /// The body has more pieces than there are piece numbers.
    static let tooLarge = SQLiteFailure(SQLITE_TOOBIG, "the body is too large")
    /// The draft no longer exists.
    static let removed = SQLiteFailure(SQLITE_ABORT, "the entry was removed while its body was being written")

    /// True if the disk or the database is full.
    var isFull: Bool { code & 0xff == SQLITE_FULL }
    /// True if the disk has failed. The connection cannot be used any longer.
    var isIOError: Bool { code & 0xff == SQLITE_IOERR }
    /// True if another connection has held the lock for too long.
    var isBusy: Bool { code & 0xff == SQLITE_BUSY }
}

extension SQLiteFailure: CustomStringConvertible {
    var description: String { "\(message) (SQLite error \(code))" }
}

extension SluiceError {
    /// True if another process has held the lock of a cache for too long, for any operation.
    var isLockTimeout: Bool { (underlyingError as? SQLiteFailure)?.isBusy == true }
}
