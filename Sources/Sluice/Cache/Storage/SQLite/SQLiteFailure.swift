import CSQLite
import SluiceHTTP

/// An error of SQLite.
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
        let message = sqlite3_errmsg(database).map { String(cString: $0) }
        self.init(code, message ?? "out of memory", isCorruption: isCorruption)
    }

    /// Returns the error for a value that no version of the cache writes.
    static func malformed(_ what: String) -> SQLiteFailure {
        SQLiteFailure(SQLITE_CORRUPT, "\(what) in it is malformed")
    }

    /// The body has more pieces than there are piece numbers.
    static let tooLarge = SQLiteFailure(SQLITE_TOOBIG, "the body is too large")
    /// The draft no longer exists.
    static let removed = SQLiteFailure(SQLITE_ABORT, "the entry was removed while its body came")

    /// True if the disk or the database is full.
    var isFull: Bool { code & 0xff == SQLITE_FULL }
    /// True if the disk has failed. The connection cannot be used any longer.
    var isInputOutput: Bool { code & 0xff == SQLITE_IOERR }
    /// True if another connection has held the lock for too long.
    var isBusy: Bool { code & 0xff == SQLITE_BUSY }
}

extension SluiceError {
    /// True if another process has held the lock of a cache for too long, for any operation.
    var isOfLock: Bool { (underlyingError as? SQLiteFailure)?.isBusy == true }
}

extension SQLiteFailure: CustomStringConvertible {
    var description: String { "\(message) (SQLite's error \(code))" }
}
