internal import CHostSQLite
internal import Spool

/// What SQLite calls when `intel_spool.so` is loaded: makes the module `intel_spool` known to the
/// connection.
///
/// - Parameters:
///   - handle: the connection, a `sqlite3 *`.
///   - message: gets nothing: the code says enough.
///   - routines: the host's calls, a `sqlite3_api_routines *`.
/// - Returns: SQLITE_OK_LOAD_PERMANENTLY (256), because a Swift runtime cannot be unloaded;
///   SQLITE_ERROR (1) where the host is older than 3.38, or a second copy of SQLite in a process
///   that has one already.
@c(sqlite3_intelspool_init)
public func loadIntelSpool(
    _ handle: OpaquePointer?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ routines: OpaquePointer?
) -> Int32 {
    guard let handle, let routines,
        chostsqlite_use(UnsafeRawPointer(routines)) >= oldestHost
    else { return 1 }
    let code = SpoolTables.register(onHandle: handle)
    return code == 0 ? 256 : code
}

/// 3.38: the first with IN lists and values known while planning for virtual tables.
private let oldestHost: Int32 = 3_038_000
