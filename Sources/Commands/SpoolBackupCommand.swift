internal import Basics
internal import LinuxIO
internal import Spool

/// `intel spool backup`: a copy of the spool in another folder, kept up to date.
enum SpoolBackupCommand {
    static let mirror = Flag("mirror", help: "remove from DIR what the spool has removed")

    static let definition = Command(
        "spool backup",
        summary: "copy the spool to DIR, or bring that copy up to date",
        operands: "DIR",
        operandsMax: 1,
        flags: [mirror, .json, .spool],
        notes: [
            "Can be run beside the agent. DIR is a spool itself: to restore, copy it back, or name",
            "it with --spool. Segments are linked where DIR is on the same file system.",
            "Exit status: 0 done, 2 error (DIR is as it was), 3 a segment is gone, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        guard let folder = arguments.operands.first, !folder.isEmpty else {
            throw CommandError("no folder given", hint: "usage: intel spool backup DIR")
        }
        let spool = Places(arguments).spool()
        _ = try SpoolDoor.open(spool)
        let backup = SpoolBackup(spool: spool, folder: folder, mirrors: arguments.has(mirror))
        let made = try reading { () throws(SpoolError) in try backup.run() }
        for name in made.missing {
            StandardError.line(
                "intel: back up '\(TerminalText.escaped(name))': the segment's file is gone"
            )
        }
        try arguments.answer(arguments.has(.json) ? json(made) : text(made))
        return made.missing.isEmpty ? ExitStatus.success : ExitStatus.partial
    }

    static func text(_ made: SpoolBackup.Made) -> String {
        var parts = ["\(FigureText.grouped(made.linked)) linked"]
        let others = [
            ("copied", made.copied), ("no longer in the spool", made.kept),
            ("removed", made.removed),
        ]
        for (name, count) in others where count > 0 {
            parts.append("\(FigureText.grouped(count)) \(name)")
        }
        return "backed up: \(FigureText.grouped(made.records)) records, "
            + "\(FigureText.grouped(made.segments)) segments (\(parts.joined(separator: ", "))), "
            + "\(FigureText.bytes(made.bytes)) written\n"
    }

    static func json(_ made: SpoolBackup.Made) -> String {
        var object = ObjectWriter()
        object.add("records", made.records)
        object.add("segments", made.segments)
        object.add("linked", made.linked)
        object.add("copied", made.copied)
        object.add("kept", made.kept)
        object.add("removed", made.removed)
        object.add("written", made.bytes)
        object.add("missing", texts: made.missing)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }
}
