internal import Basics
internal import NotifyProtocol

/// How frames are taken: at once, or in several turns.
extension BrokerState {
    /// Applies a frame of a connection, as far as there is work left (`workLeft`).
    ///
    /// What is not done is kept, and so are the connection's next frames: `resume` goes on.
    public mutating func receive(_ frame: UnsafeRawBufferPointer, from number: UInt64, now: UInt64)
        -> Reply
    {
        guard let connection = connections[number] else { return .close("unknown connection") }
        spend(Work.frame + frame.count / Work.bytesPerUnit)
        if connection.isUnfinished { return queue(frame, connection, now: now) }
        return take(frame, connection, now: now)
    }

    /// True if frames of a connection wait to be done further.
    public func isUnfinished(_ number: UInt64) -> Bool {
        connections[number]?.isUnfinished ?? false
    }

    /// Goes on with the frames of a connection that wait.
    ///
    /// - Returns: the answer of the one that was finished, if one was and has one.
    public mutating func resume(_ number: UInt64, now: UInt64) -> Reply {
        guard let connection = connections[number] else { return .close("unknown connection") }
        if let rest = connection.unfinished {
            connection.unfinished = nil
            unfinishedBytes -= rest.bytes.count
            (handouts, walk) = (rest.handouts, rest.walk)
            return rest.bytes.withUnsafeBytes {
                proceed(connection, $0, rest.progress, kept: rest.bytes, now: now)
            }
        }
        guard !connection.queued.isEmpty else { return .none }
        let next = connection.queued.removeFirst()
        unfinishedBytes -= next.count
        return next.withUnsafeBytes { take($0, connection, now: now) }
    }

    /// Gives a connection its next turn.
    public mutating func beginTurn() { workLeft = Work.turn }

    /// Counts that the rest of what a connection asks for waits for the others.
    func noteDeferred(_ number: UInt64) { connections[number]?.report.deferred &+= 1 }

    @inline(__always)
    mutating func spend(_ units: Int) { workLeft -= units }

    /// Keeps a frame behind those that wait; without room all of them are done now.
    private mutating func queue(
        _ frame: UnsafeRawBufferPointer,
        _ connection: Connection,
        now: UInt64
    ) -> Reply {
        if unfinishedBytes + frame.count <= Work.unfinishedBytesMax {
            connection.queued.append(Array(frame))
            unfinishedBytes += frame.count
            return .none
        }
        let left = workLeft
        defer { workLeft = min(left, 0) }
        workLeft = .max
        var frames: [Outgoing] = []
        while connection.isUnfinished {
            if let why = add(resume(connection.number, now: now), to: &frames) {
                return .close(why)
            }
        }
        if let why = add(take(frame, connection, now: now), to: &frames) { return .close(why) }
        return frames.isEmpty ? .none : .frames(frames)
    }

    /// Adds a reply to others; gives the reason if it closes the connection.
    private func add(_ reply: Reply, to frames: inout [Outgoing]) -> String? {
        switch reply {
        case .none: break
        case .answer(let frame): frames.append(Outgoing(frame: frame))
        case .frames(let more): frames += more
        case .close(let why): return why
        }
        return nil
    }

    private mutating func take(
        _ frame: UnsafeRawBufferPointer,
        _ connection: Connection,
        now: UInt64
    ) -> Reply {
        do throws(TruncatedBytes) {
            var reader = ByteReader(frame)
            let header = try Frames.Header(from: &reader)
            guard Int(header.length) == frame.count else { return malformed(connection, "length") }
            switch Frames.Kind(rawValue: header.kind) {
            case .hello: return try greet(connection, header, &reader)
            case .request where connection.hasGreeted:
                return apply(connection, header, frame, now: now)
            default: return malformed(connection, "kind \(header.kind)")
            }
        } catch {
            return malformed(connection, "truncated at byte \(error.offset)")
        }
    }

    private mutating func malformed(_ connection: Connection, _ reason: String) -> Reply {
        figures.malformed += 1
        let uid = connection.identity.uid
        if malformed[uid] != nil || malformed.count < Self.malformedMax {
            malformed[uid, default: 0] &+= 1
        }
        return .close("malformed frame: \(reason)")
    }

    private mutating func greet(
        _ connection: Connection,
        _ header: Frames.Header,
        _ reader: inout ByteReader
    ) throws(TruncatedBytes) -> Reply {
        let magic = try reader.u32()
        let version = try reader.u32()
        guard magic == Frames.magic, version >= 1, !connection.hasGreeted, let common = memories[0]
        else {
            return malformed(connection, "hello")
        }
        connection.hasGreeted = true
        var writer = ByteWriter()
        Frames.Header(.welcome, count: 0, serial: header.serial).append(to: &writer)
        writer.u32(Frames.version)
        writer.u32(0)
        writer.u64(connection.number)
        writer.u64(UInt64(common.layout.slots))
        writer.u64(UInt64(common.layout.poolWords))
        Frames.seal(&writer)
        return .frames([Outgoing(frame: writer.bytes, memory: common.file)])
    }

    private mutating func apply(
        _ connection: Connection,
        _ header: Frames.Header,
        _ frame: UnsafeRawBufferPointer,
        now: UInt64
    ) -> Reply {
        let count = Int(header.count)
        guard count <= Frames.operationsMax else {
            return malformed(connection, "too many operations")
        }
        // Taken out, so that operations may write to it; most quiet frames never do.
        let answer = AnswerWriter(scratch, header)
        scratch = ByteWriter()
        let progress = FrameProgress(operations: count, answer: answer)
        return proceed(connection, frame, progress, kept: nil, now: now)
    }

    /// Looks at operations while there is work left: each must be readable, and they must fill the
    /// frame.
    ///
    /// - Returns: false if the frame is malformed.
    private mutating func look(
        at frame: UnsafeRawBufferPointer,
        _ progress: inout FrameProgress
    ) -> Bool {
        while progress.unseen > 0, workLeft > 0 {
            guard let head = OperationHead(frame, at: progress.seenEnd) else { return false }
            if head.hasText {
                let bytes = UnsafeRawBufferPointer(rebasing: frame[progress.seenEnd..<head.end])
                var reader = ByteReader(bytes)
                guard (try? Operation(from: &reader)) != nil else { return false }
                spend(Work.text)
            }
            progress.seenEnd = head.end
            progress.unseen -= 1
        }
        return progress.unseen > 0 || progress.seenEnd == frame.count
    }

    /// Does operations of a frame while there is work left; keeps the rest.
    private mutating func proceed(
        _ connection: Connection,
        _ frame: UnsafeRawBufferPointer,
        _ begun: consuming FrameProgress,
        kept: [UInt8]?,
        now: UInt64
    ) -> Reply {
        var progress = begun
        // Without room to keep the rest there must be none.
        let isRoom = kept != nil || unfinishedBytes + frame.count <= Work.unfinishedBytesMax
        let left = workLeft
        if !isRoom { workLeft = .max }
        defer { if !isRoom { workLeft = min(left, 0) } }
        guard look(at: frame, &progress) else {
            return malformed(connection, "an operation is not whole")
        }
        // Work is left only if all was looked at.
        while progress.left > 0, workLeft > 0 {
            guard step(connection, frame, &progress, now: now) else { break }
        }
        guard progress.left == 0 else {
            let bytes = kept ?? Array(frame)
            unfinishedBytes += bytes.count
            connection.unfinished = UnfinishedFrame(
                bytes: bytes,
                progress: progress,
                handouts: handouts,
                walk: walk
            )
            (handouts, walk) = ([], nil)
            return .none
        }
        return finish(&progress.answer)
    }

    /// Does one operation; false if it has to go on in another turn.
    @inline(__always)
    private mutating func step(
        _ connection: Connection,
        _ frame: UnsafeRawBufferPointer,
        _ progress: inout FrameProgress,
        now: UInt64
    ) -> Bool {
        guard let head = OperationHead(frame, at: progress.offset) else {
            // Cannot be: the frame was looked at.
            progress.left = 0
            return true
        }
        spend(Work.least)
        let status: NotifyStatus
        if let quick = performQuick(head, connection, frame, now: now) {
            status = quick
            progress.answer.add(status)
        } else {
            let performed = progress.answer.add { writer in
                perform(head, connection, frame, &writer, now: now)
            }
            guard let performed else { return false }
            status = performed
        }
        if status != .ok { note(status, connection) }
        progress.offset = head.end
        progress.left -= 1
        return true
    }

    private mutating func finish(_ answer: inout AnswerWriter) -> Reply {
        let isNeeded = answer.isNeeded
        let writer = answer.finish()
        guard isNeeded else {
            scratch = writer
            return handouts.isEmpty ? .none : .frames(takeHandouts(nil))
        }
        return handouts.isEmpty ? .answer(writer.bytes) : .frames(takeHandouts(writer.bytes))
    }

    private mutating func note(_ status: NotifyStatus, _ connection: Connection) {
        figures.refused += 1
        connection.report.refused += 1
        if status == .notAuthorized { figures.notAuthorized += 1 }
        if status == .overQuota { figures.overQuota += 1 }
    }

    private mutating func takeHandouts(_ answer: [UInt8]?) -> [Outgoing] {
        var frames = handouts.map { memory in
            var writer = ByteWriter()
            Frames.Header(.memory, count: 0, serial: 0).append(to: &writer)
            MemoryNotice(number: memory.number, layout: memory.layout).append(to: &writer)
            Frames.seal(&writer)
            return Outgoing(frame: writer.bytes, memory: memory.file)
        }
        if let answer { frames.append(Outgoing(frame: answer)) }
        handouts = []
        return frames
    }
}
