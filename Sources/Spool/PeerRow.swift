internal import Basics
internal import SQLite
internal import Telemetry

/// A row of `peer_state`, to and from its columns.
enum PeerRow {
    static let columns = """
        peer, epoch, fingerprint, apikey, pid, uid, presence, appeared, changed, last_seen,
        sent, stored, collapsed, dropped, last_order, accounted, holes
        """

    /// Inserts or replaces by instance and gives the row's number; 17 parameters.
    static let upsert = """
        INSERT INTO peer_state(\(columns)) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
        ON CONFLICT(peer, epoch) DO UPDATE SET fingerprint=excluded.fingerprint,
          apikey=excluded.apikey, pid=excluded.pid, uid=excluded.uid,
          presence=excluded.presence, appeared=excluded.appeared, changed=excluded.changed,
          last_seen=excluded.last_seen, sent=excluded.sent, stored=excluded.stored,
          collapsed=excluded.collapsed, dropped=excluded.dropped,
          last_order=excluded.last_order, accounted=excluded.accounted, holes=excluded.holes
        RETURNING id
        """

    /// Writes one state with a statement made of `upsert`; the row's number.
    static func write(
        _ state: PeerState,
        _ statement: borrowing Statement
    ) throws(SQLiteError) -> Int64 {
        defer { statement.reset() }
        try statement.bind(1, state.instance.identifier)
        try statement.bind(2, Int64(bitPattern: state.instance.epoch))
        try statement.bind(3, Int64(state.fingerprint))
        try statement.bind(4, state.apikey)
        try statement.bind(5, Int64(state.pid))
        try statement.bind(6, Int64(state.uid))
        try statement.bind(7, Int64(state.presence.rawValue))
        try statement.bind(8, state.appeared)
        try statement.bind(9, state.changed)
        try statement.bind(10, state.lastSeen)
        try statement.bind(11, Int64(bitPattern: state.sent))
        try statement.bind(12, Int64(bitPattern: state.stored))
        try statement.bind(13, Int64(bitPattern: state.collapsed))
        try statement.bind(14, Int64(bitPattern: state.dropped))
        try statement.bind(15, state.lastOrder)
        try statement.bind(16, PeerBooks.accounted(state.accounted))
        try statement.bind(17, PeerBooks.holes(state.holes))
        guard try statement.step() else { return 0 }
        let id = statement.integer(0)
        _ = try statement.step()
        return id
    }

    /// Hands out every state of the spool in the order of the rows.
    ///
    /// - Returns: instances whose rows are damaged; they are passed over.
    static func forEach(
        _ database: borrowing Database,
        _ body: (PeerState) -> Void
    ) throws(SQLiteError) -> [PeerInstance] {
        let rows = try database.prepare("SELECT id, \(columns) FROM peer_state ORDER BY id")
        var damaged: [PeerInstance] = []
        while try rows.step() {
            do {
                body(try read(rows))
            } catch {
                damaged.append(instance(rows))
            }
        }
        return damaged
    }

    /// The state of one instance; nil if the spool has none.
    static func find(
        _ instance: PeerInstance,
        _ database: borrowing Database
    ) throws -> PeerState? {
        let rows = try database.prepare(
            "SELECT id, \(columns) FROM peer_state WHERE peer = ? AND epoch = ?"
        )
        try rows.bind(1, instance.identifier)
        try rows.bind(2, Int64(bitPattern: instance.epoch))
        return try rows.step() ? read(rows) : nil
    }

    private static func instance(_ row: borrowing Statement) -> PeerInstance {
        PeerInstance(identifier: row.text(1), epoch: UInt64(bitPattern: row.integer(2)))
    }

    private static func read(_ row: borrowing Statement) throws -> PeerState {
        var state = PeerState(instance: instance(row))
        state.fingerprint = UInt32(truncatingIfNeeded: row.integer(3))
        state.apikey = row.text(4)
        state.pid = Int32(truncatingIfNeeded: row.integer(5))
        state.uid = UInt32(truncatingIfNeeded: row.integer(6))
        state.presence = Presence(rawValue: UInt8(clamping: row.integer(7))) ?? .lost
        state.appeared = row.integer(8)
        state.changed = row.integer(9)
        state.lastSeen = row.integer(10)
        state.sent = UInt64(bitPattern: row.integer(11))
        state.stored = counter(row.integer(12))
        state.collapsed = counter(row.integer(13))
        state.dropped = counter(row.integer(14))
        state.lastOrder = row.integer(15)
        do {
            state.accounted = try row.withBlob(16) { bytes in
                Result { try PeerBooks.accounted(from: bytes) }
            }.get()
            state.holes = try row.withBlob(17) { bytes in
                Result { try PeerBooks.holes(from: bytes) }
            }.get()
        } catch {
            throw TruncatedColumn(name: "accounted or holes of \(state.instance)")
        }
        return state
    }

    /// Three counters are added up by whoever reads them: kept below 2^61, that cannot overflow.
    private static func counter(_ value: Int64) -> UInt64 {
        min(UInt64(bitPattern: value), 1 << 61)
    }
}
