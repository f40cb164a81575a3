import Basics
import LinuxIO
import SQLite
import Spool
import Telemetry
import Testing

/// A spool folder of one test, removed at its end.
final class Fixture {
    let directory: String

    init() throws {
        directory = try Files.makeTemporaryFolder("intel-spool")
    }

    deinit {
        Files.removeTree(directory)
    }

    func writer(_ durability: Durability = .normal) throws -> SpoolWriter {
        try SpoolWriter(directory: directory, durability: durability)
    }

    /// Stores batches, each in a commit of its own.
    func store(_ batches: [[Record]]) throws {
        var writer = try writer()
        for batch in batches { _ = try writer.commit(SpoolCommit(records: .init(batch))) }
    }

    func records(_ query: Query = Query()) throws -> [Record] {
        var reader = try SpoolReader(directory: directory)
        return try reader.records(query)
    }

    /// Runs SQL on hot.db as any tool could.
    func alter(_ sql: String) throws {
        let database = try Database(path: directory + "/hot.db", mode: .write)
        try database.execute(sql)
    }

    /// Makes a spool one of version 1.
    static func age(_ directory: String) throws {
        let database = try Database(path: directory + "/hot.db", mode: .write)
        try database.execute(
            "DROP TABLE segment; DROP TABLE removal; DROP TABLE removed; DROP TABLE mark; "
                + "DROP TABLE clock; PRAGMA user_version=1"
        )
    }

    /// Changes one byte of a batch's blob.
    func flip(batch: Int64, at offset: Int) throws {
        let database = try Database(path: directory + "/hot.db", mode: .write)
        let read = try database.prepare("SELECT data FROM batch WHERE id = ?")
        try read.bind(1, batch)
        #expect(try read.step())
        var data = read.blob(0)
        read.reset()
        data[offset % data.count] ^= 0x10
        let write = try database.prepare("UPDATE batch SET data = ? WHERE id = ?")
        try write.bind(1, data)
        try write.bind(2, batch)
        try write.run()
    }
}

extension SpoolReader {
    /// All records of a query; the scan must have been whole.
    mutating func records(_ query: Query = Query()) throws -> [Record] {
        var found: [Record] = []
        let report = try forEach(query) { view in
            found.append(view.copy())
            return true
        }
        #expect(report.damagedBatches == [])
        return found
    }
}

extension RecordBatch {
    /// The batch of some records.
    init(_ records: [Record]) {
        self.init()
        for record in records {
            let instance = index(of: record.instance)
            let kind = index(ofKind: record.kind)
            record.payload.withUnsafeBytes {
                append(
                    instance: instance,
                    kind: kind,
                    envelope: record.envelope,
                    payload: $0
                )
            }
        }
    }
}

/// A record with only what a test cares about; its order is its time.
func record(
    _ sequence: UInt64,
    at time: Int64,
    peer: String = "com.test.pos",
    epoch: UInt64 = 1,
    kind: String = "test",
    level: Level = .info,
    order: Int64? = nil,
    payload: String = #"{"n":1}"#
) -> Record {
    Record(
        instance: PeerInstance(identifier: peer, epoch: epoch),
        pid: 0,
        uid: 0,
        kind: kind,
        envelope: Envelope(sequence: sequence, level: level, time: time, order: order),
        store: 0,
        payload: Array(payload.utf8)
    )
}

/// Small repeatable random numbers.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var mixed = state ^ (state >> 33)
        mixed = mixed &* 0xff51_afd7_ed55_8ccd
        return mixed ^ (mixed >> 33)
    }
}
