internal import CSQLite

/// Makes virtual tables known to a connection under the name of a module.
public enum VirtualModule {
    /// Makes the table of `CREATE VIRTUAL TABLE … USING module(arguments)`; arguments come as they
    /// were written, with their quotes.
    public typealias Maker = (_ arguments: [String]) throws -> any VirtualTable

    /// Registers a module on a connection of ours.
    public static func register(
        _ name: String,
        on database: borrowing Database,
        _ make: @escaping Maker
    ) throws(SQLiteError) {
        let code = register(name, onHandle: database.handle, make)
        if code != SQLITE_OK { throw database.error(code, sql: name) }
    }

    /// Registers a module on a connection of somebody else's (a loadable extension's host).
    ///
    /// - Parameter handle: a `sqlite3 *`.
    /// - Returns: SQLite's result code, 0 for success.
    public static func register(
        _ name: String,
        onHandle handle: OpaquePointer,
        _ make: @escaping Maker
    ) -> Int32 {
        let box = ModuleBox(make)
        return sqlite3_create_module_v2(
            handle,
            name,
            box.callbacks,
            Unmanaged.passRetained(box).toOpaque()
        ) { context in
            if let context { Unmanaged<ModuleBox>.fromOpaque(context).release() }
        }
    }

    /// Bytes of SQLite's own memory with `text` in them, for what SQLite frees itself.
    static func allocated(_ text: String) -> UnsafeMutablePointer<CChar>? {
        let bytes = text.utf8CString
        guard let memory = sqlite3_malloc64(UInt64(bytes.count)) else { return nil }
        let target = memory.assumingMemoryBound(to: CChar.self)
        for (index, byte) in bytes.enumerated() { target[index] = byte }
        return target
    }
}

/// What belongs to a module: how to make a table, and the callbacks, which SQLite does not copy.
private final class ModuleBox {
    let make: VirtualModule.Maker
    let callbacks: UnsafeMutablePointer<sqlite3_module>

    init(_ make: @escaping VirtualModule.Maker) {
        self.make = make
        callbacks = .allocate(capacity: 1)
        var module = sqlite3_module()
        module.iVersion = 1
        module.xCreate = connect
        module.xConnect = connect
        module.xBestIndex = bestIndex
        module.xDisconnect = disconnect
        module.xDestroy = disconnect
        module.xOpen = open
        module.xClose = close
        module.xFilter = filter
        module.xNext = next
        module.xEof = isAtEnd
        module.xColumn = column
        module.xRowid = rowNumber
        module.xFindFunction = findFunction
        callbacks.initialize(to: module)
    }

    deinit {
        callbacks.deallocate()
    }
}

/// A table and the functions that SQLite has been given for it.
private final class TableBox {
    let table: any VirtualTable
    var functions: [String: FunctionBox] = [:]

    init(_ table: any VirtualTable) {
        self.table = table
    }
}

private final class FunctionBox {
    let body: (SQLValue, SQLValue) throws -> SQLValue

    init(_ body: @escaping (SQLValue, SQLValue) throws -> SQLValue) {
        self.body = body
    }
}

private final class CursorBox {
    let cursor: any VirtualCursor

    init(_ cursor: any VirtualCursor) {
        self.cursor = cursor
    }
}

/// What SQLite takes for a `sqlite3_vtab`: its own part first.
private struct TableRecord {
    var base: sqlite3_vtab
    var box: Unmanaged<TableBox>
}

/// What SQLite takes for a `sqlite3_vtab_cursor`: its own part first.
private struct CursorRecord {
    var base: sqlite3_vtab_cursor
    var box: Unmanaged<CursorBox>
}

private typealias TablePointer = UnsafeMutablePointer<sqlite3_vtab>
private typealias CursorPointer = UnsafeMutablePointer<sqlite3_vtab_cursor>

private func record(_ table: TablePointer) -> UnsafeMutablePointer<TableRecord> {
    UnsafeMutableRawPointer(table).assumingMemoryBound(to: TableRecord.self)
}

private func record(_ cursor: CursorPointer) -> UnsafeMutablePointer<CursorRecord> {
    UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: CursorRecord.self)
}

/// The code of a failure, whose words go to where SQLite looks for them.
private func failed(_ error: any Error, _ table: TablePointer?) -> Int32 {
    if error is VirtualPlan.Impossible { return SQLITE_CONSTRAINT }
    if let error = error as? SQLiteError, error.isInterrupted { return SQLITE_INTERRUPT }
    if let table {
        sqlite3_free(table.pointee.zErrMsg)
        table.pointee.zErrMsg = VirtualModule.allocated("\(error)")
    }
    return SQLITE_ERROR
}

private func connect(
    _ handle: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ count: Int32,
    _ words: UnsafePointer<UnsafePointer<CChar>?>?,
    _ made: UnsafeMutablePointer<TablePointer?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    guard let context, let made else { return SQLITE_MISUSE }
    let module = Unmanaged<ModuleBox>.fromOpaque(context).takeUnretainedValue()
    // Module, schema and table come first.
    let arguments = (3..<max(3, Int(count))).map { index in
        words?[index].map { String(cString: $0) } ?? ""
    }
    do {
        let table = try module.make(arguments)
        let code = sqlite3_declare_vtab(handle, table.declaration)
        if code != SQLITE_OK { return code }
        let record = UnsafeMutablePointer<TableRecord>.allocate(capacity: 1)
        let box = Unmanaged.passRetained(TableBox(table))
        record.initialize(to: TableRecord(base: sqlite3_vtab(), box: box))
        made.pointee = UnsafeMutableRawPointer(record).assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    } catch {
        message?.pointee = VirtualModule.allocated("\(error)")
        return SQLITE_ERROR
    }
}

private func disconnect(_ table: TablePointer?) -> Int32 {
    guard let table else { return SQLITE_OK }
    let record = record(table)
    record.pointee.box.release()
    record.deallocate()
    return SQLITE_OK
}

private func bestIndex(
    _ table: TablePointer?,
    _ info: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
    guard let table, let info else { return SQLITE_MISUSE }
    do {
        let served = record(table).pointee.box.takeUnretainedValue().table
        return try served.plan(VirtualRequest(info)).write(to: info)
    } catch {
        return failed(error, table)
    }
}

private func open(
    _ table: TablePointer?,
    _ made: UnsafeMutablePointer<CursorPointer?>?
) -> Int32 {
    guard let table, let made else { return SQLITE_MISUSE }
    do {
        let cursor = try record(table).pointee.box.takeUnretainedValue().table.open()
        let record = UnsafeMutablePointer<CursorRecord>.allocate(capacity: 1)
        let box = Unmanaged.passRetained(CursorBox(cursor))
        record.initialize(to: CursorRecord(base: sqlite3_vtab_cursor(), box: box))
        made.pointee = UnsafeMutableRawPointer(record)
            .assumingMemoryBound(to: sqlite3_vtab_cursor.self)
        return SQLITE_OK
    } catch {
        return failed(error, table)
    }
}

private func close(_ cursor: CursorPointer?) -> Int32 {
    guard let cursor else { return SQLITE_OK }
    let record = record(cursor)
    record.pointee.box.release()
    record.deallocate()
    return SQLITE_OK
}

/// Runs `body` with the cursor and puts its failure where SQLite looks for it.
private func with(_ pointer: CursorPointer?, _ body: (any VirtualCursor) throws -> Void) -> Int32 {
    guard let pointer else { return SQLITE_MISUSE }
    do {
        try body(record(pointer).pointee.box.takeUnretainedValue().cursor)
        return SQLITE_OK
    } catch {
        return failed(error, pointer.pointee.pVtab)
    }
}

private func filter(
    _ cursor: CursorPointer?,
    _ lists: Int32,
    _ name: UnsafePointer<CChar>?,
    _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    with(cursor) { cursor in
        var arguments: [VirtualArgument] = []
        for index in 0..<Int(count) {
            let value = values?[index]
            guard lists >> Int32(index) & 1 == 1 else {
                arguments.append(.value(SQLValue(value)))
                continue
            }
            var list: [SQLValue] = []
            var element: OpaquePointer?
            var code = sqlite3_vtab_in_first(value, &element)
            while code == SQLITE_OK, element != nil {
                list.append(SQLValue(element))
                code = sqlite3_vtab_in_next(value, &element)
            }
            guard code == SQLITE_OK || code == SQLITE_DONE else {
                throw SQLiteError(code: code, message: "the values of IN cannot be read", sql: "")
            }
            arguments.append(.list(list))
        }
        try cursor.start(name.map { String(cString: $0) } ?? "", arguments)
    }
}

private func next(_ cursor: CursorPointer?) -> Int32 {
    with(cursor) { try $0.advance() }
}

private func isAtEnd(_ cursor: CursorPointer?) -> Int32 {
    guard let cursor else { return 1 }
    return record(cursor).pointee.box.takeUnretainedValue().cursor.isAtEnd ? 1 : 0
}

private func column(_ cursor: CursorPointer?, _ context: OpaquePointer?, _ index: Int32) -> Int32 {
    with(cursor) { try $0.column(Int(index), into: SQLResult(context)) }
}

private func rowNumber(_ cursor: CursorPointer?, _ number: UnsafeMutablePointer<Int64>?) -> Int32 {
    with(cursor) { number?.pointee = try $0.rowNumber() }
}

private typealias CFunction =
    @convention(c) (
        OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

private func findFunction(
    _ table: TablePointer?,
    _ count: Int32,
    _ name: UnsafePointer<CChar>?,
    _ function: UnsafeMutablePointer<CFunction?>?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
    guard let table, count == 2, let name else { return 0 }
    let box = record(table).pointee.box.takeUnretainedValue()
    let key = String(cString: name).lowercased()
    // Kept as long as the table, which is as long as SQLite may call it.
    if box.functions[key] == nil, let body = box.table.function(key) {
        box.functions[key] = FunctionBox(body)
    }
    guard let known = box.functions[key] else { return 0 }
    function?.pointee = call
    context?.pointee = Unmanaged.passUnretained(known).toOpaque()
    return 1
}

private func call(
    _ context: OpaquePointer?,
    _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), count == 2, let values else { return }
    let function = Unmanaged<FunctionBox>.fromOpaque(pointer).takeUnretainedValue()
    let result = SQLResult(context)
    do {
        result.set(try function.body(SQLValue(values[0]), SQLValue(values[1])))
    } catch {
        result.set(error: "\(error)")
    }
}
