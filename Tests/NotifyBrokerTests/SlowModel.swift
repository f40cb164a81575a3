import NotifyProtocol

/// The bus as one would explain it: lists that are searched from end to end.
struct SlowModel {
    struct Seat: Equatable {
        var connection: UInt64
        var token: UInt32
        var delivers: Bool
        var lostClaim = false
        var asked = 0
        var suspensions = 0
        var merged: UInt32 = 0
        var cause = NotifyCause.post
        var post: UInt64 = 0
        var state: UInt64 = 0
    }

    struct Claim: Equatable {
        var serial: Int
        var connection: UInt64
        var will: UInt64?
        var linger: UInt64
        var deadline: UInt64
        var renewed: UInt64
        var lingersUntil: UInt64?

        var end: UInt64? {
            if let lingersUntil { return lingersUntil }
            return deadline == 0 ? nil : renewed + deadline
        }
    }

    struct Register: Equatable {
        var state: UInt64 = 0
        var number: UInt64
        var posts: UInt64 = 0
        var cause = NotifyCause.post
        var claim: Claim?
        var seats: [Seat] = []
    }

    var registers: [String: Register] = [:]
    private var claims = 0

    private func find(_ connection: UInt64, _ token: UInt32) -> (name: String, seat: Int)? {
        for (name, register) in registers {
            for (index, seat) in register.seats.enumerated()
            where seat.connection == connection && seat.token == token { return (name, index) }
        }
        return nil
    }

    private mutating func sweep() {
        registers = registers.filter { !$0.value.seats.isEmpty || $0.value.claim != nil }
    }

    mutating func apply(_ operation: Operation, _ connection: UInt64, now: UInt64) -> UInt32 {
        defer { sweep() }
        switch operation {
        case .register(let wanted): return register(wanted, connection, now: now)
        case .postName(let name):
            guard let claim = registers[name]?.claim else {
                if registers[name] != nil { post(name, .post) }
                return 0
            }
            guard claim.connection == connection else { return 7 }
            registers[name]?.claim?.renewed = now
            post(name, .post)
            return 0
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
        default: return write(operation, connection, now: now)
        }
    }

    private mutating func write(_ operation: Operation, _ connection: UInt64, now: UInt64)
        -> UInt32
    {
        let token: UInt32
        switch operation {
        case .set(let own, _), .post(let own), .setAndPost(let own, _), .renew(let own),
            .compareAndSet(let own, _, _, _):
            token = own
        default: return 6
        }
        guard let (name, index) = find(connection, token) else { return 2 }
        if let claim = registers[name]?.claim {
            guard claim.connection == connection else { return 7 }
            registers[name]?.claim?.renewed = now
        } else if registers[name]?.seats[index].lostClaim == true {
            return 102
        }
        switch operation {
        case .set(_, let state): set(name, state)
        case .post: post(name, .post)
        case .setAndPost(_, let state):
            set(name, state)
            post(name, .post)
        case .renew: return registers[name]?.claim == nil ? 6 : 0
        case .compareAndSet(_, let number, let state, let posts):
            guard registers[name]?.number == number else { return 101 }
            set(name, state)
            if posts { post(name, .post) }
        default: break
        }
        return 0
    }

    private mutating func register(_ wanted: Registration, _ connection: UInt64, now: UInt64)
        -> UInt32
    {
        if find(connection, wanted.token) != nil { return 2 }
        var register = registers[wanted.name] ?? Register(number: now)
        if wanted.claims, let claim = register.claim, claim.connection != connection { return 7 }
        var seat = Seat(connection: connection, token: wanted.token, delivers: wanted.delivers)
        if wanted.claims {
            claims += 1
            seat.asked = claims
            register.claim = Claim(
                serial: claims,
                connection: connection,
                will: wanted.will,
                linger: UInt64(wanted.linger) * 1_000_000_000,
                deadline: UInt64(wanted.deadline) * 1_000_000,
                renewed: now
            )
            register.cause = .post
            register.state = wanted.state
            register.number += 1
        }
        register.seats.append(seat)
        registers[wanted.name] = register
        return 0
    }

    private mutating func set(_ name: String, _ state: UInt64) {
        registers[name]?.state = state
        registers[name]?.number += 1
    }

    private mutating func post(_ name: String, _ cause: NotifyCause) {
        guard var register = registers[name] else { return }
        register.posts += 1
        for index in register.seats.indices where register.seats[index].delivers {
            let isFirst = register.seats[index].merged == 0
            if isFirst || cause != .post { register.seats[index].cause = cause }
            register.seats[index].merged += 1
            register.seats[index].post = register.posts
            register.seats[index].state = register.state
        }
        registers[name] = register
    }

    mutating func disconnect(_ connection: UInt64, left: Bool, now: UInt64) {
        for name in registers.keys.sorted() {
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
                set(name, will)
                post(name, left ? .left : .died)
            }
        }
        sweep()
    }

    mutating func tick(now: UInt64) {
        for name in registers.keys.sorted() {
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
                    set(name, will)
                    post(name, .expired)
                }
            }
        }
        sweep()
    }

    /// What waits for a connection and may be sent, in no order; it is taken.
    mutating func takeEvents(_ connection: UInt64) -> [Seat] {
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
