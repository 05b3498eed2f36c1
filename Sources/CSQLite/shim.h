#pragma once

#if !__has_include(<sqlite3.h>)
#error "<sqlite3.h> is missing. Install libsqlite3-dev (Debian, Ubuntu) or sqlite-devel (Fedora)."
#endif

#include "../CLinux/library.h"

#include <sqlite3.h>

#define SLUICE_SQLITE(F) \
    F(sqlite3_bind_blob64) F(sqlite3_bind_double) F(sqlite3_bind_int64) F(sqlite3_bind_null) F(sqlite3_bind_zeroblob) \
    F(sqlite3_busy_handler) F(sqlite3_clear_bindings) F(sqlite3_close_v2) F(sqlite3_column_blob) F(sqlite3_column_bytes) \
    F(sqlite3_column_double) F(sqlite3_column_int64) F(sqlite3_column_type) F(sqlite3_db_config) F(sqlite3_db_readonly) \
    F(sqlite3_errmsg) F(sqlite3_extended_result_codes) F(sqlite3_file_control) F(sqlite3_finalize) F(sqlite3_get_autocommit) \
    F(sqlite3_open_v2) F(sqlite3_prepare_v3) F(sqlite3_progress_handler) F(sqlite3_reset) F(sqlite3_step)
SLUICE_LIBRARY(sluice_sqlite, "libsqlite3.so.0", SLUICE_SQLITE, (void)0)

// Binds a copy of a blob. Swift does not import SQLITE_TRANSIENT, a function pointer cast from -1.
static inline int sluice_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sluice_sqlite()->sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Switches an option of one connection on or off; wraps sqlite3_db_config, which is variadic.
static inline int sluice_configure(sqlite3 *database, int option, int is_on) {
    return sluice_sqlite()->sqlite3_db_config(database, option, is_on, (int *)0);
}
