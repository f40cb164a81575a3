/* The calls of SQLite that our Swift code makes, led to the copy of SQLite that has loaded this
 * library. See CHostSQLite.h for why. */
#include "CHostSQLite.h"

#define SQLITE_CORE 1 /* the struct without the macros of the same names */
#include <sqlite3ext.h>

static const sqlite3_api_routines *host;

int chostsqlite_use(const void *routines) {
    if (host && host != routines) return 0;
    host = routines;
    return host->libversion_number();
}

int sqlite3_bind_blob64(sqlite3_stmt *s, int i, const void *b, sqlite3_uint64 n,
    void (*d)(void *)) {
    return host->bind_blob64(s, i, b, n, d);
}

int sqlite3_bind_int64(sqlite3_stmt *s, int i, sqlite3_int64 v) {
    return host->bind_int64(s, i, v);
}

int sqlite3_bind_null(sqlite3_stmt *s, int i) {
    return host->bind_null(s, i);
}

int sqlite3_bind_text(sqlite3_stmt *s, int i, const char *t, int n, void (*d)(void *)) {
    return host->bind_text(s, i, t, n, d);
}

int sqlite3_bind_zeroblob(sqlite3_stmt *s, int i, int n) {
    return host->bind_zeroblob(s, i, n);
}

int sqlite3_busy_timeout(sqlite3 *db, int ms) {
    return host->busy_timeout(db, ms);
}

int sqlite3_close_v2(sqlite3 *db) {
    return host->close_v2(db);
}

const void *sqlite3_column_blob(sqlite3_stmt *s, int i) {
    return host->column_blob(s, i);
}

int sqlite3_column_bytes(sqlite3_stmt *s, int i) {
    return host->column_bytes(s, i);
}

int sqlite3_column_count(sqlite3_stmt *s) {
    return host->column_count(s);
}

sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *s, int i) {
    return host->column_int64(s, i);
}

const char *sqlite3_column_name(sqlite3_stmt *s, int i) {
    return host->column_name(s, i);
}

const unsigned char *sqlite3_column_text(sqlite3_stmt *s, int i) {
    return host->column_text(s, i);
}

int sqlite3_column_type(sqlite3_stmt *s, int i) {
    return host->column_type(s, i);
}

sqlite3_value *sqlite3_column_value(sqlite3_stmt *s, int i) {
    return host->column_value(s, i);
}

int sqlite3_complete(const char *sql) {
    return host->complete(sql);
}

int sqlite3_create_module_v2(sqlite3 *db, const char *n, const sqlite3_module *m, void *p,
    void (*d)(void *)) {
    return host->create_module_v2(db, n, m, p, d);
}

sqlite3 *sqlite3_db_handle(sqlite3_stmt *s) {
    return host->db_handle(s);
}

int sqlite3_declare_vtab(sqlite3 *db, const char *sql) {
    return host->declare_vtab(db, sql);
}

const char *sqlite3_errmsg(sqlite3 *db) {
    return host->errmsg(db);
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*f)(void *, int, char **, char **),
    void *p, char **e) {
    return host->exec(db, sql, f, p, e);
}

int sqlite3_finalize(sqlite3_stmt *s) {
    return host->finalize(s);
}

void sqlite3_free(void *p) {
    host->free(p);
}

int sqlite3_get_autocommit(sqlite3 *db) {
    return host->get_autocommit(db);
}

void *sqlite3_malloc64(sqlite3_uint64 n) {
    return host->malloc64(n);
}

int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
    return host->open_v2(name, db, flags, vfs);
}

int sqlite3_prepare_v2(sqlite3 *db, const char *q, int n, sqlite3_stmt **s, const char **t) {
    return host->prepare_v2(db, q, n, s, t);
}

int sqlite3_prepare_v3(sqlite3 *db, const char *q, int n, unsigned f, sqlite3_stmt **s,
    const char **t) {
    return host->prepare_v3(db, q, n, f, s, t);
}

void sqlite3_progress_handler(sqlite3 *db, int n, int (*f)(void *), void *p) {
    host->progress_handler(db, n, f, p);
}

int sqlite3_reset(sqlite3_stmt *s) {
    return host->reset(s);
}

void sqlite3_result_blob64(sqlite3_context *c, const void *b, sqlite3_uint64 n, void (*d)(void *)) {
    host->result_blob64(c, b, n, d);
}

void sqlite3_result_double(sqlite3_context *c, double v) {
    host->result_double(c, v);
}

void sqlite3_result_error(sqlite3_context *c, const char *m, int n) {
    host->result_error(c, m, n);
}

void sqlite3_result_int64(sqlite3_context *c, sqlite3_int64 v) {
    host->result_int64(c, v);
}

void sqlite3_result_null(sqlite3_context *c) {
    host->result_null(c);
}

void sqlite3_result_text(sqlite3_context *c, const char *t, int n, void (*d)(void *)) {
    host->result_text(c, t, n, d);
}

void sqlite3_result_text64(sqlite3_context *c, const char *t, sqlite3_uint64 n,
    void (*d)(void *), unsigned char e) {
    host->result_text64(c, t, n, d, e);
}

void sqlite3_result_zeroblob(sqlite3_context *c, int n) {
    host->result_zeroblob(c, n);
}

const char *sqlite3_sql(sqlite3_stmt *s) {
    return host->sql(s);
}

int sqlite3_step(sqlite3_stmt *s) {
    return host->step(s);
}

void *sqlite3_user_data(sqlite3_context *c) {
    return host->user_data(c);
}

const void *sqlite3_value_blob(sqlite3_value *v) {
    return host->value_blob(v);
}

int sqlite3_value_bytes(sqlite3_value *v) {
    return host->value_bytes(v);
}

double sqlite3_value_double(sqlite3_value *v) {
    return host->value_double(v);
}

sqlite3_int64 sqlite3_value_int64(sqlite3_value *v) {
    return host->value_int64(v);
}

const unsigned char *sqlite3_value_text(sqlite3_value *v) {
    return host->value_text(v);
}

int sqlite3_value_type(sqlite3_value *v) {
    return host->value_type(v);
}

const char *sqlite3_vtab_collation(sqlite3_index_info *info, int i) {
    return host->vtab_collation(info, i);
}

int sqlite3_vtab_in(sqlite3_index_info *info, int i, int how) {
    return host->vtab_in(info, i, how);
}

int sqlite3_vtab_in_first(sqlite3_value *l, sqlite3_value **v) {
    return host->vtab_in_first(l, v);
}

int sqlite3_vtab_in_next(sqlite3_value *l, sqlite3_value **v) {
    return host->vtab_in_next(l, v);
}

int sqlite3_vtab_rhs_value(sqlite3_index_info *info, int i, sqlite3_value **v) {
    return host->vtab_rhs_value(info, i, v);
}

int sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *s, int how, int *log, int *done) {
    return host->wal_checkpoint_v2(db, s, how, log, done);
}
