internal import Basics
internal import Dispatch
internal import LinuxIO
internal import NotifyProtocol
internal import Synchronization

extension NotifyClient {
    /// The client's thread: reads frames until the socket ends, then finds the broker again.
    func run(_ first: Link) {
        var link = first
        var buffer = [UInt8](repeating: 0, count: Frames.bytesMax)
        while true {
            read(link, &buffer)
            detach()
            guard let next = reattach() else { return }
            link = next
            for handler in state.withLock({ $0.attachHandlers }) { handler(false) }
        }
    }

    private func read(_ link: Link, _ buffer: inout [UInt8]) {
        while true {
            do throws(SystemError) {
                let packet = try link.socket.receive(into: &buffer, waiting: true)
                defer { for descriptor in packet.descriptors { Descriptor.close(descriptor) } }
                if packet.count == 0 || packet.isTruncated { return }
                buffer.withUnsafeBytes { bytes in
                    let frame = UnsafeRawBufferPointer(rebasing: bytes[..<packet.count])
                    if !packet.descriptors.isEmpty { view.adopt(Array(frame), packet.descriptors) }
                    handle(frame)
                }
            } catch {
                if !error.wouldBlock { return }
            }
        }
    }

    /// One frame from the broker; what is not understood is passed over.
    func handle(_ frame: UnsafeRawBufferPointer) {
        var reader = ByteReader(frame)
        guard let header = try? Frames.Header(from: &reader) else { return }
        switch Frames.Kind(rawValue: header.kind) {
        case .events:
            while let event = try? NotifyEvent(from: &reader) { deliver(event) }
        case .answer: answer(header.serial, Array(frame))
        default: break
        }
    }

    private func answer(_ serial: UInt32, _ frame: [UInt8]) {
        let call = state.withLock { state in
            state.isStalled = false
            if serial == 0 { state.quietErrors += 1 }
            return state.calls.removeValue(forKey: serial)
        }
        guard let call else { return }
        call.answer.withLock { $0 = frame }
        call.done.signal()
    }

    /// Hands an event to the program, or to the second thread where that is to do it.
    ///
    /// - Parameter isLocal: true on that thread.
    func deliver(_ event: NotifyEvent, isLocal: Bool = false) {
        let delivery = state.withLock { state -> Delivery in
            guard let entry = state.entries[event.token] else { return .none }
            switch entry.delivery {
            case .pipe(let pipe):
                if state.write(event.token, to: pipe) { bell.ring() }
                return .none
            case .handler where !isLocal:
                if state.hold(event) { bell.ring() }
                return .none
            default: return entry.delivery
            }
        }
        switch delivery {
        case .direct(let handler): handler(event)
        case .handler(let handler):
            handling.withLock { _ in
                // Cancelled while it waited: no call after cancel.
                if isValid(event.token) { handler(event) }
            }
        case .queue(let queue, let handler):
            queue.async { [self] in
                if isValid(event.token) { handler(event) }
            }
        case .signal(let number): Signals.sendToSelf(number)
        case .none, .pipe: break
        }
    }

    private func detach() {
        let calls = state.withLock { state in
            state.link = nil
            state.isStalled = false
            for (token, entry) in state.entries where !entry.isSelf {
                // The old memory is still mapped: an edge that nobody has seen is kept.
                let word = table.word(token)
                if word != 0,
                    table.seenPosts(token)
                        != view.load(MemoryLayoutOfBus.posts(MemoryViews.place(entry.info)))
                {
                    table.setSeen(token, TokenTable.unseen)
                }
                table.clear(token)
            }
            defer { state.calls = [:] }
            return state.calls.values
        }
        for call in calls { call.done.signal() }
    }

    private func reattach() -> Link? {
        var pause: UInt64 = 20_000_000
        while !state.withLock({ $0.isClosed }) {
            if let link = attach(patience: Self.patience) { return link }
            wake.wait(nanoseconds: pause)
            pause = min(pause * 2, 250_000_000)
        }
        return nil
    }

    /// Connects, maps the memory, and registers every token again.
    ///
    /// On the client's thread, or before it runs.
    ///
    /// - Parameter patience: how long to wait for each answer, ns.
    func attach(patience: UInt64) -> Link? {
        let path = path
        guard BusPlace.fault(of: path) == nil, let socket = try? PacketSocket.connect(to: path)
        else { return nil }
        let link = Link(socket)
        guard greet(link, patience) else { return nil }
        guard restore(link, patience) else {
            // What was restored lies in the memory of a broker that is none of ours by now.
            detach()
            return nil
        }
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            state.link = link
            state.path = path
            return false
        }
        return isClosed ? nil : link
    }

    private func greet(_ link: Link, _ patience: UInt64) -> Bool {
        var hello = ByteWriter()
        Frames.Header(.hello, count: 0, serial: 0).append(to: &hello)
        hello.u32(Frames.magic)
        hello.u32(Frames.version)
        Frames.seal(&hello)
        guard (try? link.socket.send(hello.bytes)) != nil,
            let (frame, descriptors) = receive(link, patience), let memory = descriptors.first
        else { return false }
        defer { for descriptor in descriptors { Descriptor.close(descriptor) } }
        return frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.welcome.rawValue,
                (try? reader.u64()) != nil, let connection = try? reader.u64(),
                let slots = try? reader.u64(), let poolWords = try? reader.u64(),
                slots <= UInt64(MemoryLayoutOfBus.standard.slots),
                poolWords <= UInt64(MemoryLayoutOfBus.standard.poolWords)
            else { return false }
            let layout = MemoryLayoutOfBus(slots: Int(slots), poolWords: Int(poolWords))
            guard layout.bytes <= view.common.size, (try? view.common.map(memory)) != nil else {
                return false
            }
            state.withLock { state in
                state.connection = connection
                state.layout = layout
                state.attaches += 1
            }
            return true
        }
    }

    /// The next frame; nil after a while, when the connection ends, and when this client is closed.
    private func receive(_ link: Link, _ patience: UInt64)
        -> (frame: [UInt8], descriptors: [Int32])?
    {
        let deadline = Clock.system.boot() + patience
        while !Descriptor.wait(readable: link.socket.descriptor, milliseconds: 100) {
            if Clock.system.boot() >= deadline || state.withLock({ $0.isClosed }) { return nil }
        }
        var buffer = [UInt8](repeating: 0, count: Frames.bytesMax)
        guard let packet = try? link.socket.receive(into: &buffer), packet.count > 0,
            !packet.isTruncated
        else { return nil }
        return (Array(buffer[..<packet.count]), packet.descriptors)
    }

    private func restore(_ link: Link, _ patience: UInt64) -> Bool {
        let entries = state.withLock { state in
            state.entries.filter { !$0.value.isSelf }.sorted { $0.key < $1.key }
        }
        var rest = entries[...]
        while !rest.isEmpty {
            var batch = NotifyBatch()
            var part: [NotifyToken] = []
            while let (token, entry) = rest.first, batch.byteCount < Frames.bytesMax / 4 {
                var wanted = entry.wanted
                wanted.reclaims = wanted.claims
                wanted.wasClaimed = entry.info.pid != 0 || entry.info.cause == .unknown
                wanted.owner = entry.info.owner
                batch.append(.register(wanted))
                part.append(token)
                rest = rest.dropFirst()
            }
            guard let results = exchange(batch, link, patience), results.count == part.count else {
                return false
            }
            for (token, result) in zip(part, results) { restore(token, result) }
        }
        return resuspend(entries, link, patience)
    }

    private func restore(_ token: NotifyToken, _ result: RequestResult) {
        guard result.status == .ok, let info = result.info else {
            state.withLock { $0.entries[token]?.isRefused = true }
            return
        }
        let hasEdge = info.posts > 0 || table.seenPosts(token) == TokenTable.unseen
        table.setSeen(token, hasEdge ? TokenTable.unseen : info.posts)
        let (attach, delivers) = state.withLock { state in
            state.entries[token]?.info = info
            state.entries[token]?.isRefused = false
            return (state.attaches, state.entries[token]?.delivery.delivers ?? false)
        }
        table.set(token, slot: MemoryViews.place(info), attach: attach)
        guard delivers, info.posts > 0 else { return }
        // Posted by others before this process was back.
        deliver(
            NotifyEvent(
                token: token,
                merged: UInt32(clamping: info.posts),
                post: info.posts,
                state: info.state,
                connection: info.connection,
                pid: info.pid,
                uid: info.uid,
                cause: .post
            )
        )
    }

    private func resuspend(
        _ entries: [(key: NotifyToken, value: Entry)],
        _ link: Link,
        _ patience: UInt64
    ) -> Bool {
        var batch = NotifyBatch()
        for (token, entry) in entries where entry.suspensions > 0 {
            batch.append(.suspend(token: UInt32(bitPattern: token)))
        }
        return batch.count == 0 || exchange(batch, link, patience) != nil
    }

    /// A request on the client's own thread: events that come in between are delivered.
    private func exchange(_ batch: NotifyBatch, _ link: Link, _ patience: UInt64)
        -> [RequestResult]?
    {
        var frame = ByteWriter()
        Frames.Header(.request, count: batch.count, serial: .max).append(to: &frame)
        frame.raw(batch.writer.bytes)
        Frames.seal(&frame)
        guard (try? link.socket.send(frame.bytes)) != nil else { return nil }
        while let (answer, descriptors) = receive(link, patience) {
            view.adopt(answer, descriptors)
            for descriptor in descriptors { Descriptor.close(descriptor) }
            if let results = RequestResult.read(answer, serial: .max) { return results }
            answer.withUnsafeBytes { handle($0) }
        }
        return nil
    }
}

/// The result of one operation of a request.
struct RequestResult {
    var status: NotifyStatus
    var body: [UInt8]

    /// The name's data, where the operation answers with it.
    var info: NameInfo? {
        body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try? NameInfo(from: &reader)
        }
    }

    /// Reads an answer frame; nil if it is none, or the answer to another request.
    static func read(_ frame: [UInt8], serial: UInt32? = nil) -> [RequestResult]? {
        frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader),
                header.kind == Frames.Kind.answer.rawValue,
                serial == nil || header.serial == serial
            else { return nil }
            var results: [RequestResult] = []
            for _ in 0..<header.count {
                guard let status = try? reader.u32(), let length = try? reader.u32(),
                    let body = try? reader.raw(Int(length) - 8)
                else { return nil }
                results.append(
                    RequestResult(
                        status: NotifyStatus(rawValue: status) ?? .failed,
                        body: Array(body)
                    )
                )
            }
            return results
        }
    }
}
