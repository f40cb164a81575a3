internal import Telemetry

/// What the records of a batch say of it, counted anew, to be compared with what its row says.
struct GroupTally {
    private struct Key: Hashable {
        var stream: Int64
        var instance: Int64
        var level: UInt8
    }

    private struct Sum {
        var count = 0
        var first = UInt64.max
        var last: UInt64 = 0
    }

    private var sums: [Sum] = []
    private var places: [Key: Int] = [:]
    private var last: (key: Key, place: Int)?
    private(set) var count = 0
    private(set) var order = (first: Int64.max, last: Int64.min)
    private(set) var time = (first: Int64.max, last: Int64.min)
    private(set) var store = (first: UInt64.max, last: UInt64.min)

    /// Takes in a record.
    mutating func add(stream: Int64, instance: Int64, _ envelope: Envelope, store number: UInt64) {
        let key = Key(stream: stream, instance: instance, level: envelope.level.rawValue)
        let place = place(of: key)
        sums[place].count += 1
        sums[place].first = min(sums[place].first, envelope.sequence)
        sums[place].last = max(sums[place].last, envelope.sequence)
        count += 1
        order = (min(order.first, envelope.order), max(order.last, envelope.order))
        time = (min(time.first, envelope.time), max(time.last, envelope.time))
        store = (min(store.first, number), max(store.last, number))
    }

    /// Takes in a batch of a segment as its row tells.
    mutating func add(_ row: BatchRow, _ groups: [BatchGroup]) {
        for group in groups {
            let key = Key(stream: group.stream, instance: group.instance, level: group.level)
            let place = place(of: key)
            sums[place].count += group.count
            sums[place].first = min(sums[place].first, group.sequences.lowerBound)
            sums[place].last = max(sums[place].last, group.sequences.upperBound)
        }
        count += row.count
        order = (min(order.first, row.t0), max(order.last, row.t1))
        time = (min(time.first, row.time0), max(time.last, row.time1))
        store = (min(store.first, row.firstStore), max(store.last, row.lastStore))
    }

    private mutating func place(of key: Key) -> Int {
        if let last, last.key == key { return last.place }
        let place = places[key] ?? sums.count
        if place == sums.count {
            places[key] = place
            sums.append(Sum())
        }
        last = (key, place)
        return place
    }

    /// What of a row is not as counted; nil where all is.
    func difference(from row: BatchRow, _ groups: [BatchGroup], isHot: Bool) -> String? {
        guard count == row.count else { return "its row has another number of records" }
        guard order == (row.t0, row.t1), time == (row.time0, row.time1) else {
            return "its row has other times"
        }
        guard store == (row.firstStore, row.lastStore) else {
            return "its row has other store numbers"
        }
        var left = sums.count
        for group in groups {
            let key = Key(stream: group.stream, instance: group.instance, level: group.level)
            guard let place = places[key], sums[place].count == group.count else {
                return "its row has other groups"
            }
            let sum = sums[place]
            guard isHot || group.sequences == sum.first...max(sum.first, sum.last) else {
                return "its row has other sequence numbers"
            }
            left -= 1
        }
        return left == 0 ? nil : "its row has other groups"
    }
}
