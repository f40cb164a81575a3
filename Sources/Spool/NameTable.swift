internal import SQLite
internal import Telemetry

/// Row numbers of instances and streams, as the writer has met them lately.
///
/// What a transaction added is forgotten again if it fails. Beyond `SpoolLimits.namesMax` all are
/// forgotten, and met anew in the file.
struct NameTable: ~Copyable {
    private struct StreamKey: Hashable {
        var peer: String
        var kind: String
    }

    private var instances: [PeerInstance: Int64] = [:]
    private var streams: [StreamKey: Int64] = [:]
    private var newInstances: [PeerInstance] = []
    private var newStreams: [StreamKey] = []
    private let findStream: Statement
    private let addStream: Statement

    init(_ database: borrowing Database) throws(SQLiteError) {
        let find = try database.prepare("SELECT id FROM stream WHERE peer = ? AND kind = ?")
        let add = try database.prepare(
            "INSERT INTO stream(peer, kind) VALUES(?, ?) RETURNING id"
        )
        findStream = find
        addStream = add
    }

    func instance(_ instance: PeerInstance) -> Int64? { instances[instance] }

    mutating func remember(_ instance: PeerInstance, as id: Int64) {
        if instances.updateValue(id, forKey: instance) == nil { newInstances.append(instance) }
    }

    /// The row of a stream, which is made if it is new.
    mutating func stream(peer: String, kind: String) throws(SQLiteError) -> Int64 {
        let key = StreamKey(peer: peer, kind: kind)
        if let known = streams[key] { return known }
        var found = try Self.first(findStream, key)
        if found == nil { found = try Self.first(addStream, key) }
        let id = found ?? 0
        streams[key] = id
        newStreams.append(key)
        return id
    }

    private static func first(
        _ statement: borrowing Statement,
        _ key: StreamKey
    ) throws(SQLiteError) -> Int64? {
        defer { statement.reset() }
        try statement.bind(1, key.peer)
        try statement.bind(2, key.kind)
        guard try statement.step() else { return nil }
        let id = statement.integer(0)
        // An INSERT … RETURNING is done only when stepped to its end.
        _ = try statement.step()
        return id
    }

    mutating func keep() {
        if instances.count > SpoolLimits.namesMax { instances = [:] }
        if streams.count > SpoolLimits.namesMax { streams = [:] }
        newInstances.removeAll(keepingCapacity: true)
        newStreams.removeAll(keepingCapacity: true)
    }

    mutating func forget() {
        for instance in newInstances { instances[instance] = nil }
        for stream in newStreams { streams[stream] = nil }
        keep()
    }
}
