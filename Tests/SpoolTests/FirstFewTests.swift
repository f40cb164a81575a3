import SQLite
import Spool
import Telemetry
import Testing

/// That walks of so many records give what walks without an end begin with, though they unpack a
/// part of each batch first.
@Suite struct FirstFewTests {
    private func spool() throws -> (Fixture, Int) {
        let count = 1500
        let (fixture, _) = try Fixture.mixed(count, size: 100, seed: 9)
        try fixture.compact()
        return (fixture, count)
    }

    @Test(arguments: ["time", "time DESC", "time_ns DESC", "store", "store DESC"])
    func limitsInSQL(_ order: String) throws {
        let (fixture, count) = try spool()
        var session = try fixture.session()
        for condition in ["true", "peer = 'a/b'", "received_ns % 7 = 3", "text MATCH 'total'"] {
            // Equal times come in an order of their own, the same in each walk.
            let select = "SELECT id, payload FROM records WHERE \(condition) ORDER BY \(order)"
            let all = try session.rows(select)
            for (limit, offset) in [(1, 0), (3, 0), (20, 5), (100, 0), (4, 700), (0, 3)] {
                let found = try session.rows("\(select) LIMIT \(limit) OFFSET \(offset)")
                let expected = all.dropFirst(offset).prefix(limit)
                #expect(found == Array(expected), "\(condition), \(limit) after \(offset)")
            }
            #expect(try session.rows("\(select) LIMIT -1").count == all.count)
            #expect(try session.rows("\(select) LIMIT \(count * 2)").count == all.count)
        }
    }

    /// The last of the history, forwards and backwards.
    @Test func theLastOfTheReader() throws {
        let (fixture, count) = try spool()
        var reader = try SpoolReader(directory: fixture.directory)
        for reverse in [false, true] {
            var query = Query()
            query.reverse = reverse
            var all: [String] = []
            _ = try reader.forEach(query) { record in
                all.append(String(decoding: record.payload, as: UTF8.self))
                return true
            }
            #expect(all.count == count)
            for last in [1, 2, 30, 400, 1499, 1500, 9000] {
                query.last = last
                var found: [String] = []
                _ = try reader.forEach(query) { record in
                    found.append(String(decoding: record.payload, as: UTF8.self))
                    return true
                }
                let expected = reverse ? all.prefix(last) : all.suffix(last)
                #expect(found == Array(expected), "\(last), \(reverse)")
            }
        }
    }
}
