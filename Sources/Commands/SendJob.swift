internal import InternalNotification
internal import LinuxIO
internal import Telemetry

/// The lines of one call on their way out, and the count of what became of them.
struct SendJob {
    let messenger: Messenger
    let template: SendCommand.Template
    let timeout: UInt64
    let mayWait: Bool
    private(set) var sent: UInt64 = 0
    private(set) var refused: UInt64 = 0
    private(set) var status = ExitStatus.success
    private var last: UInt64 = 0
    /// The queue is half full and has not moved for the whole timeout.
    private var isStuck = false

    init(messenger: Messenger, template: SendCommand.Template, timeout: UInt64, mayWait: Bool) {
        self.messenger = messenger
        self.template = template
        self.timeout = timeout
        self.mayWait = mayWait
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
            StandardError.line("intel: \(error)")
            status = ExitStatus.failure
        }
    }

    private mutating func send(descriptor: Int32, name: String) throws(SystemError) {
        var reader = LineReader(descriptor: descriptor, lineBytesMax: Limits.messageBytesMax)
        while !isStuck, let line = try reader.next() {
            do throws(SendCommand.LineFault) {
                if reader.isCut {
                    throw SendCommand.LineFault(why: "longer than \(Limits.messageBytesMax) bytes")
                }
                try send(template.message(line))
            } catch {
                refused += 1
                status = ExitStatus.failure
                StandardError.line("intel: \(name): line \(reader.number): \(error.why)")
            }
        }
    }

    private mutating func send(_ message: INMessage) throws(SendCommand.LineFault) {
        do throws(INError) {
            last = try messenger.sendWaiting(message, timeout: timeout)
            sent += 1
        } catch {
            if error == .timedOut {
                // Nobody takes what is queued: `finish` tells how much of it.
                last = messenger.statistics.sent
                isStuck = true
                return
            }
            throw SendCommand.LineFault(why: "\(error)")
        }
    }

    /// Waits until all is stored, and tells what was not.
    mutating func finish(busPath: String) {
        if refused > 0 { StandardError.line("intel: \(refused) lines refused, \(sent) sent") }
        guard mayWait || isStuck, last > 0 else { return }
        let reason = isStuck ? .timedOut : messenger.wait(for: last, timeout: timeout)
        let statistics = messenger.statistics
        guard let reason else {
            if statistics.dropped > 0 {
                StandardError.line("intel: \(statistics.dropped) lines dropped: the queue was full")
                status = ExitStatus.failure
            }
            return
        }
        let lost = statistics.sent - statistics.stored
        StandardError.line("intel: \(lost) of \(statistics.sent) lines not stored: \(reason)")
        if !statistics.isAttached {
            StandardError.line("  no bus answers at '\(busPath)': is 'intel agent' running?")
        } else if !statistics.hasCollector {
            StandardError.line("  no agent collects on this bus: is 'intel agent' running?")
        }
        status = ExitStatus.failure
    }
}
