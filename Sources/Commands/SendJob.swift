internal import InternalNotification
internal import LinuxIO
internal import Telemetry

/// The lines of one call on their way out, and the count of what became of them.
struct SendJob {
    /// How long one wait for the queue or the store lasts before signals and progress are looked
    /// at again, ns.
    static let slice: UInt64 = 100_000_000

    let messenger: Messenger
    let template: SendCommand.Template
    let timeout: UInt64
    let mayWait: Bool
    let progress: ProgressLine
    private(set) var sent: UInt64 = 0
    private(set) var refused: UInt64 = 0
    private(set) var status = ExitStatus.success
    private var last: UInt64 = 0
    /// While the queue is half full: the number that has to be stored before more is sent.
    private(set) var awaited: UInt64?
    /// The queue is half full and has not moved for the whole timeout.
    private(set) var isStuck = false

    init(
        messenger: Messenger,
        template: SendCommand.Template,
        timeout: UInt64,
        mayWait: Bool,
        progress: ProgressLine
    ) {
        self.messenger = messenger
        self.template = template
        self.timeout = timeout
        self.mayWait = mayWait
        self.progress = progress
    }

    /// Sends every line of a file; `-` is standard input.
    mutating func send(file: String) {
        do throws(SystemError) {
            if file == "-" {
                try send(descriptor: Descriptor.input, name: "stdin")
            } else {
                let opened = try Files.openToRead(file)
                try send(descriptor: opened.raw, name: file)
            }
        } catch {
            fail("\(error)")
        }
    }

    private mutating func send(descriptor: Int32, name: String) throws(SystemError) {
        var splitter = LineSplitter(lineBytesMax: Limits.messageBytesMax)
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while !isStuck {
            while progress.isOn, !Descriptor.isReadable(descriptor, milliseconds: 100) { show() }
            let count = try Descriptor.read(descriptor, into: &chunk)
            if count == 0 { break }
            progress.bytes += UInt64(count)
            splitter.feed(chunk[..<count])
            while !isStuck, let line = splitter.next() {
                send(line, of: splitter, name: name)
                waitForRoom()
            }
            show()
        }
        if !isStuck, let line = splitter.rest() { send(line, of: splitter, name: name) }
    }

    /// Queues one line, or tells why it is no record.
    ///
    /// Where `awaited` is set after it, the queue is half full and the caller waits.
    mutating func send(_ line: [UInt8], of splitter: LineSplitter, name: String) {
        do throws(SendCommand.LineFault) {
            if splitter.isCut {
                throw SendCommand.LineFault(
                    why: "longer than \(Limits.messageBytesMax) bytes",
                    bytes: splitter.length,
                    limit: Limits.messageBytesMax
                )
            }
            try send(template.message(line))
        } catch {
            refused += 1
            fail("\(name): line \(splitter.number): \(error.why)")
            if error.limit > 0 { record(error, line: splitter.number) }
        }
    }

    /// Leaves a record in the place of a line that is too large, so that who reads the history, and
    /// not this program's output, knows too.
    private mutating func record(_ fault: SendCommand.LineFault, line: Int) {
        let payload: INValue = [
            "line": .number("\(line)"), "bytes": .number("\(fault.bytes)"),
            "limit": .number("\(fault.limit)"),
        ]
        let message = INMessage(kind: "intel.refused", payload: payload, level: .warning)
        if (try? send(message)) != nil { sent -= 1 }
    }

    private mutating func send(_ message: INMessage) throws(SendCommand.LineFault) {
        do throws(INError) {
            last = try messenger.sendWaiting(message, timeout: 0)
        } catch {
            guard error == .timedOut else {
                var fault = SendCommand.LineFault(why: "\(error)")
                if case .tooLarge(let bytes, let limit) = error {
                    (fault.bytes, fault.limit) = (bytes, limit)
                }
                throw fault
            }
            // It is queued, and half of what waits with it has to go first.
            let statistics = messenger.statistics
            last = statistics.sent
            awaited = statistics.stored + UInt64(statistics.waiting / 2)
        }
        sent += 1
    }

    /// Waits until half the queue is stored, and gives up where it does not move at all for the
    /// whole timeout.
    private mutating func waitForRoom() {
        guard awaited != nil else { return }
        var stored = messenger.statistics.stored
        var deadline = Clock.system.boot() + timeout
        while !waitedForRoom() {
            show()
            let now = Clock.system.boot()
            let current = messenger.statistics.stored
            if current != stored { (stored, deadline) = (current, now + timeout) }
            if now >= deadline { return giveUp() }
        }
    }

    /// Waits one slice for half the queue to be stored; true once it is.
    mutating func waitedForRoom() -> Bool {
        guard let awaited else { return true }
        let reason = messenger.wait(for: awaited, timeout: min(timeout, Self.slice))
        if reason == .timedOut { return false }
        self.awaited = nil
        return true
    }

    /// Sends no more: `finish` tells how much of what was sent is not stored.
    mutating func giveUp() {
        isStuck = true
        awaited = nil
    }

    /// Tells what went wrong, which the exit status will say too.
    mutating func fail(_ why: String) {
        say(why)
        status = ExitStatus.failure
    }

    /// Tells something on stderr.
    func say(_ text: String) {
        progress.say("intel: " + TerminalText.escaped(text))
    }

    /// Shows how far it has come.
    func show() {
        guard progress.isOn else { return }
        progress.show(sent: sent, stored: messenger.statistics.stored)
    }

    /// Waits until all is stored, and tells what was not.
    ///
    /// - Parameter isCancelled: asked ten times a second; true ends the waiting.
    mutating func finish(busPath: String, isCancelled: () -> Bool = { false }) {
        var reason: INError? = isStuck ? .timedOut : nil
        if mayWait, !isStuck, last > 0 { reason = waitForAll(isCancelled) }
        let statistics = messenger.statistics
        progress.finish(sent: sent, stored: statistics.stored)
        if refused > 0 { say("\(refused) lines refused, \(sent) sent") }
        guard last > 0 else { return }
        guard let reason else {
            if statistics.dropped > 0 {
                fail("\(statistics.dropped) lines dropped: the queue was full")
            }
            return
        }
        let lost = statistics.sent - statistics.stored
        fail("\(lost) of \(statistics.sent) lines not stored: \(reason)")
        if let why = whyNotStored(busPath) { progress.say("  " + TerminalText.escaped(why)) }
    }

    /// Tells, once the center has stopped, what nobody can read any more.
    ///
    /// Where it was waited for, `finish` has told of these lines that they are not stored.
    mutating func tellUnsent(busPath: String) {
        let statistics = messenger.statistics
        guard !mayWait, !isStuck, statistics.unsent > 0 else { return }
        let why = whyNotStored(busPath) ?? "the ring is full, and the agent does not read it"
        fail("\(statistics.unsent) of \(statistics.sent) lines not sent: \(why)")
    }

    /// What stands in the way of storing, as far as it is known.
    func whyNotStored(_ busPath: String) -> String? {
        let statistics = messenger.statistics
        if !statistics.isAttached {
            return "no bus answers at '\(busPath)': is 'intel agent' running?"
        }
        if !statistics.hasCollector {
            return "no agent collects on this bus: is 'intel agent' running?"
        }
        return nil
    }

    private func waitForAll(_ isCancelled: () -> Bool) -> INError? {
        let deadline = Clock.system.boot().addingReportingOverflow(timeout)
        while true {
            let now = Clock.system.boot()
            let left = deadline.overflow ? Self.slice : deadline.partialValue &- now
            let isLast = !deadline.overflow && now + Self.slice >= deadline.partialValue
            let slice = isLast ? min(left, Self.slice) : Self.slice
            let reason = messenger.wait(for: last, timeout: slice)
            guard reason == .timedOut, !isLast, !isCancelled() else { return reason }
            show()
        }
    }
}
