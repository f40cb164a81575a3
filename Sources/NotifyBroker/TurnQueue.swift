/// Connections that wait for their next turn: users take turns, and so do each user's connections.
struct TurnQueue {
    /// A user's connections that wait.
    final class Line {
        fileprivate var waiting: [UInt64] = []
        fileprivate var first = 0
        /// Connections of the user that are open.
        fileprivate var connections = 0
        /// The round in which it was served last, and what that has cost.
        private var round: UInt64 = 0
        private var spent = 0

        /// Notes what a turn has cost.
        func add(_ cost: Int, in now: UInt64) {
            if round != now { (round, spent) = (now, 0) }
            spent += cost
        }

        /// What the user's connections have had in a round.
        func spent(in now: UInt64) -> Int { round == now ? spent : 0 }
    }

    private var lines: [UInt32: Line] = [:]
    private var waiting: [Line] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// The line of a user, for one more connection.
    mutating func join(uid: UInt32) -> Line {
        let line = lines[uid] ?? Line()
        lines[uid] = line
        line.connections += 1
        return line
    }

    /// A connection is gone; that its number may still wait does no harm.
    mutating func leave(_ line: Line, uid: UInt32) {
        line.connections -= 1
        if line.connections == 0 { lines[uid] = nil }
    }

    /// Puts a connection at the end of its user's line; it must not stand there.
    mutating func add(_ number: UInt64, to line: Line) {
        if line.first == line.waiting.count { waiting.append(line) }
        line.waiting.append(number)
    }

    /// Takes out whose turn it is.
    mutating func next() -> UInt64? {
        guard !waiting.isEmpty else { return nil }
        let line = waiting.removeFirst()
        let number = line.waiting[line.first]
        line.first += 1
        if line.first == line.waiting.count {
            line.waiting.removeAll(keepingCapacity: true)
            line.first = 0
        } else {
            // What was served is dropped now and then, so that the line does not grow for ever.
            if line.first > 64, line.first * 2 > line.waiting.count {
                line.waiting.removeFirst(line.first)
                line.first = 0
            }
            waiting.append(line)
        }
        return number
    }
}
