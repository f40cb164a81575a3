internal import Basics
internal import LinuxIO
internal import Spool

/// `intel spool verify`: reads every byte of the spool and names what is damaged.
enum SpoolVerifyCommand {
    static let deep = Flag("deep", help: "put every payload together, too; four times as long")

    static let definition = Command(
        "spool verify",
        summary: "read every byte of the spool, and name what is damaged",
        flags: [deep, .json, .quiet, .spool],
        notes: [
            "Can be run beside the agent: what is moved meanwhile is no damage.",
            "Exit status: 0 all is sound, 2 error, 3 something is damaged, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let folder = Places(arguments).spool()
        // For its words where there is none.
        _ = try SpoolDoor.open(folder)
        let line = ProgressLine.onTerminal(arguments)
        let start = Clock.system.boot()
        let verifier = Verifier(directory: folder, isDeep: arguments.has(deep))
        let found = try reading { () throws(SpoolError) in
            try verifier.run { line.show(progress($0, $1)) }
        }
        let took = max(1, Clock.system.boot() - start)
        line.finish()
        for damage in found.damages { StandardError.line("intel: " + text(damage)) }
        try arguments.answer(arguments.has(.json) ? json(found, took) : text(found, took))
        return found.isSound ? ExitStatus.success : ExitStatus.partial
    }

    static func progress(_ done: UInt64, _ total: UInt64) -> String {
        let percent = total == 0 ? 100 : min(100, Double(done) * 100 / Double(total))
        return "\(FigureText.bytes(done)) of \(FigureText.bytes(max(done, total)))"
            + " · \(Int(percent)) %"
    }

    /// Operation, subject, cause, and what is lost by it.
    static func text(_ damage: Verification.Damage) -> String {
        let records = damage.records == 0 ? "" : " (\(FigureText.grouped(damage.records)) records)"
        return TerminalText.escaped("verify '\(damage.subject)': \(damage.cause)") + records
    }

    static func text(_ found: Verification, _ nanoseconds: UInt64) -> String {
        let rate = UInt64(Double(found.rawBytes) * 1e9 / Double(nanoseconds))
        var text = found.isSound ? "sound: " : "damaged: "
        if !found.isSound {
            text +=
                "\(FigureText.grouped(UInt64(found.damages.count))) found, "
                + "\(FigureText.grouped(found.damagedRecords)) records in them; sound are "
        }
        return text + "\(FigureText.grouped(found.records)) records in "
            + "\(FigureText.grouped(found.hotBatches)) hot batches and "
            + "\(FigureText.grouped(found.segments)) segments, "
            + "\(FigureText.bytes(found.rawBytes)) of payloads, "
            + "\(FigureText.bytes(rate))/s\n"
    }

    static func json(_ found: Verification, _ nanoseconds: UInt64) -> String {
        var object = ObjectWriter()
        object.add("sound", found.isSound)
        object.add("records", found.records)
        object.add("bytes", found.rawBytes)
        object.add("packed", found.packedBytes)
        object.add("hot_batches", found.hotBatches)
        object.add("segments", found.segments)
        object.add("cold_batches", found.coldBatches)
        object.add("moved", found.moved)
        object.add("milliseconds", nanoseconds / 1_000_000)
        object.add("damaged_records", found.damagedRecords)
        let damages = found.damages.map { damage in
            var one = ObjectWriter()
            one.add("subject", damage.subject)
            one.add("cause", damage.cause)
            one.add("records", damage.records)
            return one.finished
        }
        object.add("damages", array: damages)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }
}

extension ProgressLine {
    /// For work that is told of on a terminal alone, and nowhere with --quiet.
    static func onTerminal(_ arguments: Parsed) -> ProgressLine {
        let isSeen = Descriptor.isTerminal(Descriptor.error) && !arguments.has(.quiet)
        return ProgressLine(isSeen ? .passing : .off)
    }
}
