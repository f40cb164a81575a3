import Basics
import LinuxIO
import NotifyProtocol
import Testing

/// The dumps in docs/bus-protocol.md against what the code writes and reads.
@Suite struct GoldenTests {
    /// The blocks of the document: ```golden NAME, lines of hex digits with a comment behind `;`.
    private static let document: [String: [UInt8]] = {
        let root = Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
        let bytes = (try? Files.contents(root + "/docs/bus-protocol.md")) ?? []
        var found: [String: [UInt8]] = [:]
        var name: String?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("```golden ") {
                name = String(line.dropFirst(10))
                found[name ?? ""] = []
            } else if line.hasPrefix("```") {
                name = nil
            } else if let name {
                let digits = line.prefix { $0 != ";" }.split(separator: " ")
                found[name, default: []] += digits.compactMap { UInt8($0, radix: 16) }
            }
        }
        return found
    }()

    private static let info: NameInfo = {
        var info = NameInfo()
        (info.slot, info.poolBase, info.poolCount) = (3, 64, 8)
        (info.cause, info.state, info.stateNumber, info.posts) = (.died, 5, 12, 4)
        (info.connection, info.pid, info.uid) = (7, 4242, 501)
        (info.memory, info.owner) = (1, 501)
        return info
    }()

    private static let register: Operation = {
        var wanted = Registration(token: 1, name: "näme", delivers: true)
        wanted.claims = true
        (wanted.state, wanted.will, wanted.linger) = (5, 9, 30)
        (wanted.pool, wanted.deadline) = (4096, 1000)
        return .register(wanted)
    }()

    private static let others: [Operation] = [
        .cancel(token: 1), .suspend(token: 2), .resume(token: 3), .postName("p"),
        .list(prefix: "a.", suffix: ".z", after: "a.b"), .inspect(token: 9),
        .who(prefix: "", suffix: "", after: ""), .connections(after: 7), .goodbye,
    ]

    private static let event = NotifyEvent(
        token: 1,
        merged: 3,
        post: 4,
        state: 5,
        stateNumber: 12,
        connection: 7,
        pid: 4242,
        uid: 501,
        cause: .expired
    )

    private static let nameReport = NameReport(
        info: info,
        registrations: 3,
        subscribers: 2,
        waiting: 1,
        deadline: 1000,
        merged: 8,
        endsAt: 99
    )

    private static let connectionReport: ConnectionReport = {
        var report = ConnectionReport()
        (report.number, report.pid, report.uid, report.gid) = (7, 4242, 501, 502)
        (report.registrations, report.waiting, report.poolWords) = (10, 1, 4096)
        (report.posts, report.delivered, report.merged, report.refused) = (20, 21, 22, 23)
        (report.quotaHits.registrations, report.quotaHits.names) = (1, 2)
        (report.quotaHits.poolWords, report.quotaHits.posts) = (3, 4)
        report.quotaHits.lingers = 5
        (report.malformed, report.deferred) = (2, 6)
        return report
    }()

    /// A frame of the code's making.
    private static func frame(
        _ kind: Frames.Kind,
        count: Int = 0,
        serial: UInt32 = 0,
        flags: UInt32 = 0,
        _ body: (inout ByteWriter) -> Void
    ) -> [UInt8] {
        var writer = ByteWriter()
        Frames.Header(kind, count: count, serial: serial, flags: flags).append(to: &writer)
        body(&writer)
        Frames.seal(&writer)
        return writer.bytes
    }

    private static func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        body(&writer)
        return writer.bytes
    }

    private static func writes(_ writer: inout ByteWriter) {
        Operation.set(token: 4, state: 1 << 63).append(to: &writer)
        Operation.post(token: 5).append(to: &writer)
        Operation.setAndPost(token: 6, state: 2).append(to: &writer)
        Operation.appendPoolWrite(token: 7, offset: 16, words: [11, 12], to: &writer)
        Operation.compareAndSet(token: 8, number: 12, state: 6, posts: true).append(to: &writer)
        Operation.renew(token: 9).append(to: &writer)
    }

    private static let made: [String: [UInt8]] = [
        "hello": frame(.hello) { writer in
            writer.u32(Frames.magic)
            writer.u32(Frames.version)
        },
        "welcome": frame(.welcome) { writer in
            writer.u32(Frames.version)
            writer.u32(0)
            writer.u64(7)
            writer.u64(UInt64(MemoryLayoutOfBus.standard.slots))
            writer.u64(UInt64(MemoryLayoutOfBus.standard.poolWords))
        },
        "register": frame(.request, count: 1, serial: 1) { register.append(to: &$0) },
        "writes": frame(.request, count: 6, serial: 2, flags: 1) { writes(&$0) },
        "others": frame(.request, count: others.count, serial: 3) { writer in
            for operation in others { operation.append(to: &writer) }
        },
        "answer": frame(.answer, count: 2, serial: 2) { writer in
            writer.u32(NotifyStatus.ok.rawValue)
            writer.u32(8)
            writer.u32(NotifyStatus.conflict.rawValue)
            writer.u32(8 + UInt32(Frames.nameBytes))
            info.append(to: &writer)
        },
        "events": frame(.events, count: 1) { event.append(to: &$0) },
        "memory": frame(.memory) { writer in
            MemoryNotice(number: 1, layout: .restricted).append(to: &writer)
        },
        "name report": bytes { nameReport.append(to: &$0) },
        "connection report": bytes { connectionReport.append(to: &$0) },
    ]

    @Test func theDocumentHasThemAll() {
        #expect(Set(Self.document.keys) == Set(Self.made.keys))
    }

    @Test(arguments: made.keys.sorted())
    func theCodeWritesWhatTheDocumentSays(name: String) {
        #expect(Self.document[name] == Self.made[name])
    }

    /// Reads the body of a frame of the document.
    private func read<T>(_ name: String, skip: Int, _ body: (inout ByteReader) throws -> T) throws
        -> T
    {
        let bytes = try #require(Self.document[name])
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            _ = try reader.raw(skip)
            let found = try body(&reader)
            #expect(reader.isAtEnd)
            return found
        }
    }

    @Test func theCodeReadsWhatTheDocumentSays() throws {
        let registered = try read("register", skip: 16) { try Operation(from: &$0) }
        #expect(registered == Self.register)
        let found = try read("others", skip: 16) { reader in
            try Self.others.map { _ in try Operation(from: &reader) }
        }
        #expect(found == Self.others)
        let writes = try read("writes", skip: 16) { reader in
            try (0..<6).map { _ in try Operation(from: &reader) }
        }
        #expect(writes[0] == .set(token: 4, state: 1 << 63))
        #expect(writes[4] == .compareAndSet(token: 8, number: 12, state: 6, posts: true))
        #expect(try read("answer", skip: 32) { try NameInfo(from: &$0) } == Self.info)
        #expect(try read("events", skip: 16) { try NotifyEvent(from: &$0) } == Self.event)
        let notice = try read("memory", skip: 16) { try MemoryNotice(from: &$0) }
        #expect(notice == MemoryNotice(number: 1, layout: .restricted))
        #expect(try read("name report", skip: 0) { try NameReport(from: &$0) } == Self.nameReport)
        let report = try read("connection report", skip: 0) { try ConnectionReport(from: &$0) }
        #expect(report == Self.connectionReport)
    }
}
