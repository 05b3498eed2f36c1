#pragma once

#include <sqlite3.h>

// Binds a copy of a blob. Swift does not import SQLITE_TRANSIENT, a function pointer cast from -1.
static inline int sluice_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Switches an option of one connection on or off; wraps sqlite3_db_config, which is variadic.
static inline int sluice_configure(sqlite3 *database, int option, int is_on) {
    return sqlite3_db_config(database, option, is_on, (int *)0);
}
