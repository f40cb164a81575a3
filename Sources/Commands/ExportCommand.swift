internal import LinuxIO
internal import Spool

/// `intel export`: the history as one JSON text or as lines.
enum ExportCommand {
    static let format = Flag(
        "format",
        "FORMAT",
        choices: ["json", "ndjson"],
        help: "json (one array, the default) or ndjson (one object a line)"
    )
    static let file = Flag(
        "output",
        short: "O",
        "FILE",
        help: "into this file, which appears when it is whole"
    )

    static let definition = Command(
        "export",
        summary: "write the history as JSON, to stdout or into a file",
        flags: RecordFilter.flags + [format, file],
        notes: ["An existing FILE is replaced only when all has been written."],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        let filter = try RecordFilter(arguments)
        let isArray = arguments.value(format) != "ndjson"
        let spool = Places(arguments).spool()
        guard let path = arguments.value(file), path != "-" else {
            return try export(filter, spool, isArray: isArray, to: arguments.output)
        }
        let aside = path + ".\(Environment.pid).partial"
        let target = try calling { () throws(SystemError) in try Files.create(aside) }
        // After the rename there is nothing under this name any more.
        defer { try? Files.remove(aside) }
        let status = try export(filter, spool, isArray: isArray, to: target.raw)
        try calling { () throws(SystemError) in
            try DurableFile.sync(target, path)
            try Files.rename(aside, to: path)
            try DurableFile.syncFolder(of: path)
        }
        return status
    }

    private static func export(
        _ filter: RecordFilter,
        _ spool: String,
        isArray: Bool,
        to descriptor: Int32
    ) throws(CommandError) -> Int32 {
        var reader = try reading { () throws(SpoolError) in try SpoolReader(directory: spool) }
        let layout: RecordWriter.Layout = isArray ? .array : .lines
        var writer = RecordWriter(.json, zone: .utc, descriptor: descriptor, layout: layout)
        var report = ScanReport()
        if filter.query.last != 0 {
            report = try reading { () throws(SpoolError) in
                try reader.forEach(filter.query) { writer.write(RecordItem($0)) }
            }
        }
        try writer.finish()
        if writer.isClosed { return ExitStatus.success }
        return Notes.status(found: true, report)
    }
}
