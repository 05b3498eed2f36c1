#pragma once

#include <sqlite3.h>

// SQLite's own name for this is a cast of -1 to a pointer to a function, which Swift does not see: it copies what it is given.
static inline int sluice_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Takes a variable number of arguments, which Swift does not call: switches an option of one connection on or off.
static inline int sluice_configure(sqlite3 *database, int option, int is_on) {
    return sqlite3_db_config(database, option, is_on, (int *)0);
}
