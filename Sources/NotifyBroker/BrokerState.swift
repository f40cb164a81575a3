internal import Basics
public import LinuxIO
public import NotifyProtocol

/// What the broker counts, for `status` and tests.
public struct BrokerFigures: Equatable, Sendable {
    /// Connections that are open.
    public var connections = 0
    /// Names that exist.
    public var names = 0
    /// Posts since the start.
    public var posts: UInt64 = 0
    /// Posts that were merged into an event that still waited.
    public var merged: UInt64 = 0
    /// Connections closed for a malformed frame.
    public var malformed: UInt64 = 0
    /// Operations that were refused.
    public var refused: UInt64 = 0
}

/// All that the broker decides, without a socket: frames in; answers, events and memory writes out.
///
/// 1. A name's register lives while a registration or a lingering claim of it exists.
/// 2. A claimed name is written by its claimer alone.
/// 3. A registration has at most one waiting event; posts merge into it and none is forgotten.
/// 4. Operations of a frame are applied in order, and its events leave after all of them.
public struct BrokerState {
    /// What to do with a frame's sender.
    public enum Reply: Equatable, Sendable {
        case none
        case answer([UInt8])
        /// Answer, and send the memory file along.
        case welcome([UInt8])
        /// Close the connection: the frame was malformed, for this reason.
        case close(String)
    }

    /// Counters.
    public internal(set) var figures = BrokerFigures()
    /// Connections that have events waiting since the last look.
    public var dirty: Set<UInt64> = []

    var memory: RegisterMemory
    var connections: [UInt64: Connection] = [:]
    var names: [String: Name] = [:]
    var lingering: [Name] = []
    private var lastConnection: UInt64 = 0

    /// A broker without names.
    ///
    /// `memory` must be zero, `layout.bytes` long, and outlive this value.
    public init(layout: MemoryLayoutOfBus, memory: UnsafeMutableRawBufferPointer) {
        self.memory = RegisterMemory(layout: layout, bytes: memory)
    }

    /// Notes a new connection.
    ///
    /// - Returns: its number, never used again.
    public mutating func connect(_ credentials: Credentials) -> UInt64 {
        lastConnection += 1
        connections[lastConnection] = Connection(number: lastConnection, credentials: credentials)
        figures.connections += 1
        return lastConnection
    }

    /// A connection has ended: its registrations go, its claims end or linger, its wills are done.
    public mutating func disconnect(_ number: UInt64, now: UInt64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        dirty.remove(number)
        figures.connections -= 1
        let cause: NotifyCause = connection.saidGoodbye ? .left : .died
        var touched: [Name] = []
        for subscription in connection.registrations.values {
            subscription.name.remove(subscription)
            touched.append(subscription.name)
        }
        for name in touched { endClaim(of: name, by: connection, cause: cause, now: now) }
        for name in touched { freeIfUnused(name) }
    }

    /// Ends claims whose linger is over.
    ///
    /// - Returns: when the next one ends; nil if none lingers.
    public mutating func tick(now: UInt64) -> UInt64? {
        if lingering.isEmpty { return nil }
        let over = lingering.filter { ($0.claim?.lingersUntil ?? 0) <= now }
        if !over.isEmpty {
            lingering.removeAll { ($0.claim?.lingersUntil ?? 0) <= now }
            for name in over {
                name.claim = nil
                freeIfUnused(name)
            }
        }
        return lingering.compactMap { $0.claim?.lingersUntil }.min()
    }

    /// Applies a frame of a connection.
    public mutating func receive(_ frame: UnsafeRawBufferPointer, from number: UInt64, now: UInt64)
        -> Reply
    {
        guard let connection = connections[number] else { return .close("unknown connection") }
        do throws(TruncatedBytes) {
            var reader = ByteReader(frame)
            let header = try Frames.Header(from: &reader)
            guard Int(header.length) == frame.count else { return malformed("length") }
            switch Frames.Kind(rawValue: header.kind) {
            case .hello: return try greet(connection, header, &reader)
            case .request where connection.hasGreeted:
                return try apply(connection, header, &reader, now: now)
            default: return malformed("kind \(header.kind)")
            }
        } catch {
            return malformed("truncated at byte \(error.offset)")
        }
    }

    private mutating func malformed(_ reason: String) -> Reply {
        figures.malformed += 1
        return .close("malformed frame: \(reason)")
    }

    private mutating func greet(
        _ connection: Connection,
        _ header: Frames.Header,
        _ reader: inout ByteReader
    ) throws(TruncatedBytes) -> Reply {
        let magic = try reader.u32()
        let version = try reader.u32()
        guard magic == Frames.magic, version >= 1, !connection.hasGreeted else {
            return malformed("hello")
        }
        connection.hasGreeted = true
        var writer = ByteWriter()
        Frames.Header(.welcome, count: 0, serial: header.serial).append(to: &writer)
        writer.u32(Frames.version)
        writer.u32(0)
        writer.u64(connection.number)
        writer.u64(UInt64(memory.layout.slots))
        writer.u64(UInt64(memory.layout.poolWords))
        Frames.seal(&writer)
        return .welcome(writer.bytes)
    }

    private mutating func apply(
        _ connection: Connection,
        _ header: Frames.Header,
        _ reader: inout ByteReader,
        now: UInt64
    ) throws(TruncatedBytes) -> Reply {
        guard header.count <= Frames.operationsMax else { return malformed("too many operations") }
        // All of the frame is read before any of it is applied.
        var operations: [Operation] = []
        operations.reserveCapacity(Int(header.count))
        for _ in 0..<header.count { operations.append(try Operation(from: &reader)) }
        guard reader.isAtEnd else { return malformed("bytes after the last operation") }
        var writer = ByteWriter(capacity: 64)
        Frames.Header(.answer, count: operations.count, serial: header.serial).append(to: &writer)
        var hasFailed = false
        for operation in operations {
            let start = writer.count
            writer.u32(0)
            writer.u32(0)
            let status = perform(operation, connection, reader.base, &writer, now: now)
            if status != .ok {
                hasFailed = true
                figures.refused += 1
                writer.truncate(to: start + 8)
            }
            writer.patch(u32: status.rawValue, at: start)
            writer.patch(u32: UInt32(writer.count - start), at: start + 4)
        }
        if header.isQuiet, !hasFailed { return .none }
        Frames.seal(&writer)
        return .answer(writer.bytes)
    }
}
