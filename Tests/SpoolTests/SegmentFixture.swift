import LinuxIO
import SQLite
import Telemetry
import Testing

@testable import Spool

extension CompactionLimits {
    /// Everything goes to the cold tier at once.
    static let all = CompactionLimits(hotBytes: 0, keptBytes: 0, smallBytes: 0)
}

extension Fixture {
    /// Compacts as long as there is something to.
    @discardableResult
    func compact(_ limits: CompactionLimits = .all) throws -> [Compaction.Made] {
        var compaction = try Compaction(directory: directory, limits: limits)
        var made: [Compaction.Made] = []
        while let one = try compaction.step() { made.append(one) }
        return made
    }

    /// Files in the folder of segments.
    var segmentNames: [String] { Files.names(in: directory + "/seg") }

    /// Numbers of the hot batches.
    func hotBatches() throws -> Int64 {
        let database = try Database(path: directory + "/hot.db", mode: .read)
        return try database.integer("SELECT count(*) FROM batch") ?? 0
    }

    func sql(_ statement: String) throws -> [[SQLValue]] {
        var session = try session()
        return try session.rows(statement)
    }
}
