package import NotifyProtocol

/// The bus as one would explain it: lists that are searched from end to end.
package struct SlowModel {
    package struct Seat: Equatable {
        package var connection: UInt64
        package var token: UInt32
        package var delivers: Bool
        package var lostClaim = false
        package var asked = 0
        package var suspensions = 0
        package var merged: UInt32 = 0
        package var cause = NotifyCause.post
        package var post: UInt64 = 0
        package var state: UInt64 = 0
        package var number: UInt64 = 0
        package var sender: UInt64 = 0
    }

    package struct Claim: Equatable {
        package var serial: Int
        package var connection: UInt64
        package var holder: Holder
        package var will: UInt64?
        package var linger: UInt64
        package var deadline: UInt64
        package var renewed: UInt64
        package var lingersUntil: UInt64?

        package var end: UInt64? {
            if let lingersUntil { return lingersUntil }
            return deadline == 0 ? nil : renewed + deadline
        }
    }

    package struct Register: Equatable {
        package var state: UInt64 = 0
        package var number: UInt64
        package var posts: UInt64 = 0
        package var stateTime: UInt64 = 0
        package var merged: UInt64 = 0
        package var cause = NotifyCause.post
        package var claim: Claim?
        package var wasEverClaimed = false
        package var seats: [Seat] = []
        package var pool: [UInt64] = []
    }

    /// A process and its user.
    package struct Holder: Equatable {
        package var pid: Int32 = 0
        package var uid: UInt32 = 0
    }

    /// By the bytes of the name: two spellings of one character are two names.
    package typealias Key = [UInt8]

    package var registers: [Key: Register] = [:]
    private var holders: [UInt64: Holder] = [:]
    private var leaving: Set<UInt64> = []
    private var claims = 0

    package init() {}

    package static func key(_ name: String) -> Key { Array(name.utf8) }

    /// Who speaks on a connection; one that nobody has told of is user 0's.
    package mutating func connect(_ connection: UInt64, pid: Int32, uid: UInt32) {
        holders[connection] = Holder(pid: pid, uid: uid)
    }

    private func holder(_ connection: UInt64) -> Holder { holders[connection] ?? Holder() }

    private func find(_ connection: UInt64, _ token: UInt32) -> (name: Key, seat: Int)? {
        for (name, register) in registers {
            for (index, seat) in register.seats.enumerated()
            where seat.connection == connection && seat.token == token { return (name, index) }
        }
        return nil
    }

    private mutating func sweep() {
        registers = registers.filter { !$0.value.seats.isEmpty || $0.value.claim != nil }
    }

    /// The status that the broker has to answer; `words` are those of a pool write.
    package mutating func apply(
        _ operation: Operation,
        _ connection: UInt64,
        now: UInt64,
        words: [UInt64] = []
    ) -> UInt32 {
        defer { sweep() }
        switch operation {
        case .register(let wanted): return register(wanted, connection, now: now)
        case .postName(let name): return post(named: name, connection, now: now)
        case .list, .who, .connections: return 0
        case .goodbye:
            leaving.insert(connection)
            return 0
        case .inspect(let token): return find(connection, token) == nil ? 2 : 0
        case .cancel(let token):
            guard let (name, index) = find(connection, token) else { return 2 }
            registers[name]?.seats.remove(at: index)
            let isLast = registers[name]?.seats.allSatisfy { $0.connection != connection } ?? true
            if isLast, registers[name]?.claim?.connection == connection {
                registers[name]?.claim = nil
            }
            return 0
        case .suspend(let token):
            guard let (name, index) = find(connection, token) else { return 2 }
            registers[name]?.seats[index].suspensions += 1
            return 0
        case .resume(let token):
            guard let (name, index) = find(connection, token) else { return 2 }
            let before = registers[name]?.seats[index].suspensions ?? 0
            registers[name]?.seats[index].suspensions = max(0, before - 1)
            return 0
        default: return write(operation, connection, now: now, words)
        }
    }

    private mutating func post(named text: String, _ connection: UInt64, now: UInt64) -> UInt32 {
        let name = Self.key(text)
        guard name.count <= 511, !name.contains(0) else { return 1 }
        guard mayWrite(name, connection) else { return 7 }
        guard let claim = registers[name]?.claim else {
            if registers[name] != nil { post(name, .post, connection) }
            return 0
        }
        guard claim.connection == connection else { return 7 }
        registers[name]?.claim?.renewed = now
        post(name, .post, connection)
        return 0
    }

    private mutating func write(
        _ operation: Operation,
        _ connection: UInt64,
        now: UInt64,
        _ words: [UInt64]
    ) -> UInt32 {
        let token: UInt32
        switch operation {
        case .set(let own, _), .post(let own), .setAndPost(let own, _), .renew(let own),
            .compareAndSet(let own, _, _, _), .poolWrite(let own, _, _):
            token = own
        default: return 6
        }
        guard let (name, index) = find(connection, token) else { return 2 }
        guard mayWrite(name, connection) else { return 7 }
        if let claim = registers[name]?.claim {
            guard claim.connection == connection else { return 7 }
            registers[name]?.claim?.renewed = now
        } else if registers[name]?.seats[index].lostClaim == true {
            return 102
        }
        switch operation {
        case .set(_, let state): set(name, state, now)
        case .post: post(name, .post, connection)
        case .setAndPost(_, let state):
            set(name, state, now)
            post(name, .post, connection)
        case .renew: return registers[name]?.claim == nil ? 6 : 0
        case .compareAndSet(_, let number, let state, let posts):
            guard registers[name]?.number == number else { return 101 }
            set(name, state, now)
            if posts { post(name, .post, connection) }
        case .poolWrite(_, let offset, _):
            guard offset + words.count <= registers[name]?.pool.count ?? 0 else { return 6 }
            for (place, word) in words.enumerated() { registers[name]?.pool[offset + place] = word }
        default: break
        }
        return 0
    }

    private mutating func register(_ wanted: Registration, _ connection: UInt64, now: UInt64)
        -> UInt32
    {
        let name = Self.key(wanted.name)
        guard name.count <= 511, !name.contains(0) else { return 1 }
        if find(connection, wanted.token) != nil { return 2 }
        guard wanted.pool <= 4096 else { return 6 }
        let takes = wanted.claims || wanted.pool > 0
        guard mayRead(name, connection), !takes || mayWrite(name, connection) else { return 7 }
        var register = registers[name] ?? Register(number: now)
        if takes, let claim = register.claim, claim.connection != connection {
            let isBack =
                wanted.reclaims && claim.lingersUntil != nil && claim.holder == holder(connection)
            guard isBack else { return 7 }
        }
        if wanted.pool > 0 {
            guard [0, wanted.pool].contains(register.pool.count) else { return 6 }
            register.pool = Array(repeating: 0, count: wanted.pool)
        }
        var seat = Seat(connection: connection, token: wanted.token, delivers: wanted.delivers)
        if wanted.claims {
            claims += 1
            seat.asked = claims
            register.claim = claim(wanted, connection, now: now)
            register.wasEverClaimed = true
            register.cause = .post
            (register.state, register.stateTime) = (wanted.state, now)
            register.number &+= 1
        } else if register.claim == nil {
            if wanted.wasClaimed, !register.wasEverClaimed { register.cause = .unknown }
            let isNewer = wanted.stateTime > register.stateTime && wanted.stateTime <= now
            if isNewer, mayWrite(name, connection) {
                (register.state, register.stateTime) = (wanted.state, wanted.stateTime)
                register.number &+= 1
            }
        }
        register.seats.append(seat)
        registers[name] = register
        return 0
    }

    private func claim(_ wanted: Registration, _ connection: UInt64, now: UInt64) -> Claim {
        let deadline = min(max(wanted.deadline, 10), 86_400_000)
        return Claim(
            serial: claims,
            connection: connection,
            holder: holder(connection),
            will: wanted.will,
            linger: UInt64(min(wanted.linger, 300)) * 1_000_000_000,
            deadline: wanted.deadline == 0 ? 0 : UInt64(deadline) * 1_000_000,
            renewed: now
        )
    }

    private mutating func set(_ name: Key, _ state: UInt64, _ now: UInt64) {
        registers[name]?.state = state
        registers[name]?.stateTime = now
        registers[name]?.number &+= 1
    }

    private mutating func post(_ name: Key, _ cause: NotifyCause, _ sender: UInt64) {
        guard var register = registers[name] else { return }
        register.posts += 1
        for index in register.seats.indices where register.seats[index].delivers {
            let isFirst = register.seats[index].merged == 0
            if isFirst || cause != .post { register.seats[index].cause = cause }
            if !isFirst { register.merged += 1 }
            register.seats[index].merged += 1
            register.seats[index].post = register.posts
            register.seats[index].state = register.state
            register.seats[index].number = register.number
            register.seats[index].sender = sender
        }
        registers[name] = register
    }

    package mutating func disconnect(_ connection: UInt64, left: Bool = false, now: UInt64) {
        let left = leaving.remove(connection) != nil || left
        for name in registers.keys {
            guard let register = registers[name] else { continue }
            let wasThere = register.seats.contains { $0.connection == connection }
            registers[name]?.seats.removeAll { $0.connection == connection }
            guard wasThere, let claim = register.claim, claim.connection == connection,
                claim.lingersUntil == nil
            else { continue }
            registers[name]?.cause = left ? .left : .died
            if claim.linger > 0 {
                registers[name]?.claim?.lingersUntil = now + claim.linger
            } else {
                registers[name]?.claim = nil
            }
            if let will = claim.will {
                set(name, will, now)
                post(name, left ? .left : .died, connection)
            }
        }
        holders[connection] = nil
        sweep()
    }

    package mutating func tick(now: UInt64) {
        for name in registers.keys {
            guard let claim = registers[name]?.claim, let end = claim.end, end <= now else {
                continue
            }
            registers[name]?.claim = nil
            if claim.lingersUntil == nil {
                registers[name]?.cause = .expired
                for index in registers[name]?.seats.indices ?? 0..<0
                where registers[name]?.seats[index].asked == claim.serial {
                    registers[name]?.seats[index].lostClaim = true
                }
                if let will = claim.will {
                    set(name, will, now)
                    post(name, .expired, claim.connection)
                }
            }
        }
        sweep()
    }

    /// What waits for a connection and may be sent, in no order; it is taken.
    package mutating func takeEvents(_ connection: UInt64) -> [Seat] {
        var found: [Seat] = []
        for name in registers.keys {
            for index in registers[name]?.seats.indices ?? 0..<0 {
                guard let seat = registers[name]?.seats[index], seat.connection == connection,
                    seat.merged > 0, seat.suspensions == 0
                else { continue }
                found.append(seat)
                registers[name]?.seats[index].merged = 0
            }
        }
        return found
    }
}

/// The built-in rules: `user.uid.N` is user N's, `intel.system.` is spoken by user 0.
extension SlowModel {
    private func mayRead(_ name: Key, _ connection: UInt64) -> Bool {
        let uid = holder(connection).uid
        guard uid != 0, let owner = Self.owner(name) else { return true }
        return uid == owner
    }

    private func mayWrite(_ name: Key, _ connection: UInt64) -> Bool {
        if holder(connection).uid == 0 { return true }
        return mayRead(name, connection) && !name.starts(with: Array("intel.system.".utf8))
    }

    private static func owner(_ name: Key) -> UInt32? {
        guard name.starts(with: Array("user.uid.".utf8)) else { return nil }
        let dot = UInt8(ascii: ".")
        let part = name.split(separator: dot, omittingEmptySubsequences: false)[2]
        let digits = String(decoding: part, as: UTF8.self)
        guard let uid = UInt32(digits), "\(uid)" == digits else { return 0 }
        return uid
    }
}
