internal import NotifyClient
internal import NotifyProtocol

/// What a client can do to disturb the others, for ever.
public enum Flood: String, CaseIterable, Sendable {
    /// Posts to a registration of its own, 1,000 in a frame.
    case posts
    /// Posts to 1,000 registrations of its own, 500 in a frame.
    case wide
    /// Registrations of new names, until the quota and beyond.
    case registrations
    /// Pools, written whole, until the quota and beyond.
    case pools
    /// Half frames, each on a new connection.
    case halves
    /// Requests whose answers nobody reads, on 50 connections.
    case unread
    /// Listings that look at 2,000 names and find nothing, 1,000 in a frame.
    case listings
    /// Names by the 10,000, and the end of the connection that had them.
    case ends

    /// Floods the broker at `path` until `isOver`.
    public func run(_ path: String, until isOver: () -> Bool) throws {
        switch self {
        case .posts: try Self.posts(path, isOver)
        case .wide: try Self.wide(path, isOver)
        case .registrations: try Self.registrations(path, isOver)
        case .pools: try Self.pools(path, isOver)
        case .halves: try Self.halves(path, isOver)
        case .unread: try Self.unread(path, isOver)
        case .listings: try Self.listings(path, isOver)
        case .ends: try Self.ends(path, isOver)
        }
    }

    private static func posts(_ path: String, _ isOver: () -> Bool) throws {
        let client = try NotifyClient(path: path)
        let token = try client.registerDirect("flood") { _ in }
        var batch = NotifyBatch()
        for _ in 0..<1000 { batch.post(token) }
        while !isOver() { try client.write(batch) }
        client.close()
    }

    private static func wide(_ path: String, _ isOver: () -> Bool) throws {
        let raw = try RawConnection(path)
        let all = (1...1000 as ClosedRange<UInt32>).map {
            Operation.register(Registration(token: $0, name: "flood", delivers: true))
        }
        for start in stride(from: 0, to: all.count, by: 250) {
            _ = try raw.ask(Array(all[start..<start + 250]))
        }
        let posts = [Operation](repeating: .post(token: 1), count: 500)
        try push(RawFrames.request(posts, isQuiet: true), raw, isOver)
    }

    private static func registrations(_ path: String, _ isOver: () -> Bool) throws {
        let raw = try RawConnection(path)
        var next: UInt32 = 0
        while !isOver() {
            _ = try raw.ask(names(next..<next + 400))
            next += 400
        }
    }

    private static func pools(_ path: String, _ isOver: () -> Bool) throws {
        let client = try NotifyClient(path: path)
        let words = [UInt64](repeating: 1, count: 4096)
        var made = 0
        while !isOver() {
            guard let pool = try? client.claimPool("flood.\(made)", count: 4096) else { continue }
            made += 1
            var batch = NotifyBatch()
            batch.poolWrite(pool, at: 0, words: words)
            try client.write(batch)
        }
        client.close()
    }

    private static func halves(_ path: String, _ isOver: () -> Bool) throws {
        while !isOver() {
            let raw = try RawConnection(path)
            try raw.send(Array(RawFrames.request(.postName("flood")).dropLast(5)))
            _ = try? raw.receive()
        }
    }

    private static func unread(_ path: String, _ isOver: () -> Bool) throws {
        var all: [RawConnection] = []
        for _ in 0..<50 { all.append(try RawConnection(path)) }
        for raw in all {
            for token in 1...20 as ClosedRange<UInt32> {
                try raw.send(RawFrames.register("flood", token: token))
            }
        }
        let frames = [
            RawFrames.request(.who(prefix: "", suffix: "", after: "")),
            RawFrames.request(.postName("flood")),
        ]
        while !isOver() {
            for raw in all {
                for frame in frames { try? raw.send(frame, waiting: false) }
            }
        }
    }

    private static func listings(_ path: String, _ isOver: () -> Bool) throws {
        let raw = try RawConnection(path)
        for start in stride(from: 0, to: 2000, by: 400) as StrideTo<UInt32> {
            _ = try raw.ask(names(start..<start + 400))
        }
        // Nothing fits, so that the answers stay small and the looking does not end.
        let one = Operation.who(prefix: "none", suffix: "none", after: "")
        let two = Operation.connections(after: .max)
        let all = (0..<1000).map { $0 % 2 == 0 ? one : two }
        try push(RawFrames.request(all, isQuiet: true), raw, isOver)
    }

    private static func ends(_ path: String, _ isOver: () -> Bool) throws {
        while !isOver() {
            let raw = try RawConnection(path)
            for start in stride(from: 0, to: 10_000, by: 400) as StrideTo<UInt32> {
                _ = try raw.ask(names(start..<start + 400))
            }
        }
    }

    private static func names(_ tokens: Range<UInt32>) -> [Operation] {
        tokens.map { .register(Registration(token: $0, name: "flood.\($0)")) }
    }

    /// Sends a frame again and again, and reads what is answered.
    private static func push(_ frame: [UInt8], _ raw: RawConnection, _ isOver: () -> Bool) throws {
        while !isOver() {
            try? raw.send(frame, waiting: false)
            while let answer = try? raw.receive(waiting: false), !answer.isEmpty {}
        }
    }
}
