import CSQLite
import SluiceHTTP

/// What SQLite said when it could not do something.
struct SQLiteFailure: Error, Hashable {
    /// The extended result code.
    let code: Int32
    /// SQLite's words, which hold no data.
    let message: String
    /// Whether the file is not what it should be, so that nothing in it can be relied on.
    let isCorruption: Bool

    init(_ code: Int32, _ message: String, isCorruption: Bool = false) {
        self.code = code
        self.message = message
        let kinds = [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_MISMATCH]
        self.isCorruption = isCorruption || kinds.contains(code & 0xff)
    }

    /// What a connection says of its last call.
    init(_ code: Int32, of database: OpaquePointer?, isCorruption: Bool = false) {
        let message = sqlite3_errmsg(database).map { String(cString: $0) }
        self.init(code, message ?? "out of memory", isCorruption: isCorruption)
    }

    /// A value that no version of the cache has written.
    static func malformed(_ what: String) -> SQLiteFailure {
        SQLiteFailure(SQLITE_CORRUPT, "\(what) in it is malformed")
    }

    /// A body of more pieces than there are numbers for.
    static let tooLarge = SQLiteFailure(SQLITE_TOOBIG, "the body is too large")
    /// What was begun is not there any longer.
    static let removed = SQLiteFailure(SQLITE_ABORT, "the entry was removed while its body came")

    /// Whether there is no room for what should be written.
    var isFull: Bool { code & 0xff == SQLITE_FULL }
    /// Whether the disk failed, after which the connection is of no use.
    var isInputOutput: Bool { code & 0xff == SQLITE_IOERR }
    /// Whether another holds the lock for too long.
    var isBusy: Bool { code & 0xff == SQLITE_BUSY }
    /// Whether the file or its folder may not be written.
    var isReadOnly: Bool { code & 0xff == SQLITE_READONLY }
}

extension SluiceError {
    /// Whether another process holds a cache's lock for too long, whatever was to be done under it.
    var isOfLock: Bool { (underlyingError as? SQLiteFailure)?.isBusy == true }
}

extension SQLiteFailure: CustomStringConvertible {
    var description: String { "\(message) (SQLite's error \(code))" }
}
