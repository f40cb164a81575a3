internal import Basics
internal import InternalNotification
internal import LinuxIO
internal import Telemetry

/// `intel send [FILE…]`: a peer that sends lines.
///
/// One line is one record. A line that cannot be a record is told with its number and the reason;
/// the others are sent all the same, and the exit status is 0 only if every line was stored.
enum SendCommand {
    static let identifier = Flag("as", "IDENTIFIER", help: "who sends (intel.send)")
    static let kind = Flag("kind", "KIND", help: "what sort of records (line)")
    static let level = Flag("level", "LEVEL", help: "their level, emerg to debug (info)")
    static let format = Flag(
        "format",
        "FORMAT",
        choices: ["auto", "text", "json"],
        help: "what a line is: text, json, or auto (json where it is an object)"
    )
    static let noWait = Flag("no-wait", help: "wait until the lines are sent, not stored")
    static let timeout = Flag(
        "timeout",
        "TIME",
        help: "wait that long at the most (30s; with --no-wait 2s)"
    )
    static let follow = Flag(
        "follow",
        short: "f",
        help: "go on with what is appended, each file from its beginning, over rotation"
    )
    static let progress = Flag("progress", help: "show on stderr how far it has come")

    static let definition = Command(
        "send",
        summary: "send lines of stdin or files as records",
        operands: "[FILE…]",
        operandsMax: .max,
        flags: [
            identifier, kind, level, format, follow, noWait, timeout, progress, .bus, .channel,
        ],
        notes: [
            "Without FILE, or where it is '-', lines come from stdin; the last needs no line end.",
            "A terminal gets the progress unasked if it takes longer than a moment.",
            "",
            "--follow runs until SIGTERM or SIGINT; then it sends what is in the files and waits",
            "until it is stored. A file may be renamed and made anew, cut (copytruncate), removed,",
            "or not be there yet. A line is sent when its end has come, or none can come any more.",
            "",
            "Exit status: 0 every line was stored (--no-wait: sent), 2 not, and stderr says how",
            "many.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let template = try Template(arguments)
        let mayWait = !arguments.has(noWait)
        let wanted = try arguments.duration(timeout)
        let config = INAppConfig(
            identifier: try template.identifier(arguments),
            busPath: Places(arguments).bus
        )
        let files = arguments.operands.isEmpty ? ["-"] : arguments.operands
        if arguments.has(follow) {
            guard !files.contains("-") else {
                throw CommandError(
                    "--follow needs files",
                    hint: "a pipe is followed anyway: leave --follow out"
                )
            }
        }
        // Before any thread starts, so that all of them leave the signals to this one.
        let signals = arguments.has(follow) ? try Daemon.signals() : nil
        let center = INCenter(identifier: try Places(arguments).channel(), config: config)
        defer { center.stop() }
        var job = SendJob(
            messenger: center.messenger,
            template: template,
            timeout: wanted ?? 30_000_000_000,
            mayWait: mayWait,
            progress: progressLine(arguments, files)
        )
        if let signals {
            var following = try SendFollowing(files, job, busPath: config.busPath)
            try following.run(signals)
            job = following.job
        } else {
            if job.progress.isOn { job.progress.total = totalBytes(files) }
            for file in files { job.send(file: file) }
            job.finish(busPath: config.busPath)
        }
        center.stop(timeout: mayWait ? Limits.flushTimeout : wanted ?? Limits.flushTimeout)
        job.tellUnsent(busPath: config.busPath)
        return job.status
    }

    private static func progressLine(_ arguments: Parsed, _ files: [String]) -> ProgressLine {
        if arguments.has(progress) { return ProgressLine(.standing) }
        // Nobody's typing is overwritten.
        let isTyped = files.contains("-") && Descriptor.isTerminal(Descriptor.input)
        let isSeen = Descriptor.isTerminal(Descriptor.error) && !isTyped
        return ProgressLine(isSeen ? .passing : .off)
    }

    /// Bytes of all files; nil where one is a pipe or the like.
    private static func totalBytes(_ files: [String]) -> UInt64? {
        var total: UInt64 = 0
        for file in files {
            let isInput = file == "-"
            let status = isInput ? FileStatus(opened: Descriptor.input) : FileStatus(file)
            guard let status, status.isRegular else { return nil }
            total += status.size
        }
        return total
    }

    /// What every line of one call has in common.
    struct Template {
        var kind: String
        var level: Level
        var format: String

        init(_ arguments: Parsed) throws(CommandError) {
            kind = arguments.value(SendCommand.kind) ?? "line"
            format = arguments.value(SendCommand.format) ?? "auto"
            let name = arguments.value(SendCommand.level) ?? "info"
            guard let level = Level(name: name) else {
                throw CommandError(
                    "--level: '\(name)' is no level",
                    hint: "emerg … debug, or 0 … 7"
                )
            }
            self.level = level
            guard (1...Limits.nameBytesMax).contains(kind.utf8.count) else {
                throw CommandError("--kind: not 1 to \(Limits.nameBytesMax) bytes")
            }
        }

        func identifier(_ arguments: Parsed) throws(CommandError) -> String {
            let name = arguments.value(SendCommand.identifier) ?? "intel.send"
            guard (1...Limits.nameBytesMax).contains(name.utf8.count), !name.contains("|") else {
                throw CommandError("--as: not 1 to \(Limits.nameBytesMax) bytes without '|'")
            }
            return name
        }

        /// One line as a message.
        func message(_ line: [UInt8]) throws(LineFault) -> INMessage {
            switch format {
            case "json": return try json(line)
            case "text": return try text(line)
            default:
                let first = line.first { $0 != 0x20 && $0 != 0x09 }
                if first == UInt8(ascii: "{"), let found = try? json(line) { return found }
                return try text(line)
            }
        }

        private func json(_ line: [UInt8]) throws(LineFault) -> INMessage {
            do throws(JSONFault) {
                return try INMessage(kind: kind, json: line, level: level)
            } catch {
                throw LineFault(why: "not JSON: \(error)")
            }
        }

        private func text(_ line: [UInt8]) throws(LineFault) -> INMessage {
            if let bad = line.withUnsafeBytes({ UTF8Text.firstInvalid($0) }) {
                throw LineFault(why: "invalid UTF-8 at byte \(bad)")
            }
            var payload = Array(#"{"message":"#.utf8)
            line.withUnsafeBytes { JSONText.appendString($0, to: &payload) }
            payload.append(UInt8(ascii: "}"))
            do throws(JSONFault) {
                return try INMessage(kind: kind, json: payload, level: level)
            } catch {
                throw LineFault(why: "\(error)")
            }
        }
    }

    /// Why a line is no record.
    struct LineFault: Error {
        var why: String
        /// Bytes of a line that is too large, and how many there may be; 0 for any other fault.
        var bytes = 0
        var limit = 0
    }
}
