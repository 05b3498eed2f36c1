import CSQLite

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
            case .null: try check(sqlite3_bind_null(pointer, index))
            case .integer(let value): try check(sqlite3_bind_int64(pointer, index, value))
            case .real(let value): try check(sqlite3_bind_double(pointer, index, value))
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
    func bind(staying bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteFailure) {
        try check(bindBytes(bytes, at: index) { sqlite3_bind_blob64($0, $1, $2, $3, nil) })
    }

    /// Binds bytes. SQLite treats a null pointer as NULL, so an empty blob is bound as a zero-length blob.
    private func bindBytes(
        _ bytes: UnsafeRawBufferPointer,
        at index: Int32,
        _ bind: (OpaquePointer, Int32, UnsafeRawPointer, UInt64) -> Int32
    ) -> Int32 {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(pointer, index, 0) }
        return bind(pointer, index, base, UInt64(bytes.count))
    }

    /// Steps to the next row. Returns false if there is none.
    func step() throws(SQLiteFailure) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
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
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }

    /// Returns a number in the current row; 0 for NULL.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    /// Returns a number in the current row; nil for NULL.
    func real(_ column: Int32) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(pointer, column)
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// Returns the bytes in the current row. They are valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // The order matters: reading the blob may convert the value and change its size.
        guard let base = sqlite3_column_blob(pointer, column) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    /// Returns the string in the current row.
    func string(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(code, of: database) }
    }
}
