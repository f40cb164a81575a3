internal import Basics
internal import LinuxIO
internal import Spool

/// `intel spool salvage`: a new spool of what can be read of a damaged one.
enum SpoolSalvageCommand {
    static let definition = Command(
        "spool salvage",
        summary: "make a new spool, NEW, of what can be read of a damaged one",
        operands: "SPOOL NEW",
        operandsMax: 2,
        flags: [.json, .quiet],
        notes: [
            "Nothing in SPOOL is changed; its agent has to be stopped. NEW must be empty.",
            "Exit status: 0 all was saved, 2 error, 3 something is lost, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        guard arguments.operands.count == 2, !arguments.operands.contains("") else {
            throw CommandError(
                "a damaged spool and a new folder are needed",
                hint: "usage: intel spool salvage SPOOL NEW"
            )
        }
        let salvage = Salvage(spool: arguments.operands[0], folder: arguments.operands[1])
        let outcome = try reading { () throws(SpoolError) in try salvage.run() }
        if !arguments.has(.quiet) {
            for loss in outcome.losses {
                StandardError.line("intel: lost: " + TerminalText.escaped(loss))
            }
        }
        try arguments.answer(arguments.has(.json) ? json(outcome) : text(outcome))
        return outcome.isWhole ? ExitStatus.success : ExitStatus.partial
    }

    static func text(_ outcome: Salvage.Outcome) -> String {
        let (whole, mended) = (outcome.wholeSegments, outcome.mendedSegments)
        var text =
            "saved: \(FigureText.grouped(outcome.records)) records in "
            + "\(FigureText.grouped(outcome.hotBatches)) hot batches and "
            + "\(FigureText.grouped(whole + mended)) segments"
        if mended > 0 { text += " (\(FigureText.grouped(mended)) mended)" }
        text += "\nlost: \(FigureText.grouped(outcome.lostRecords)) records"
        if outcome.lostBatches > 0 {
            text += ", and what was in \(FigureText.grouped(outcome.lostBatches)) batches"
        }
        if outcome.lostNames > 0 {
            text += ", and \(FigureText.grouped(outcome.lostNames)) names"
        }
        return text + "\n"
    }

    static func json(_ outcome: Salvage.Outcome) -> String {
        var object = ObjectWriter()
        object.add("records", outcome.records)
        object.add("hot_batches", outcome.hotBatches)
        object.add("segments", outcome.wholeSegments)
        object.add("mended_segments", outcome.mendedSegments)
        object.add("lost_records", outcome.lostRecords)
        object.add("lost_batches", outcome.lostBatches)
        object.add("lost_names", outcome.lostNames)
        object.add("losses", texts: outcome.losses)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }
}
