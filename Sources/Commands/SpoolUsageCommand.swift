internal import Basics
internal import Spool

/// `intel spool usage`: what the spool takes on the disk, by peer and kind.
enum SpoolUsageCommand {
    static let definition = Command(
        "spool usage",
        summary: "records and bytes by peer and by kind, and the size of all files",
        flags: [.json, .spool],
        notes: [
            "Where several share a batch, its bytes are cut in proportion to their records.",
            "Exit status: 0, 2 error, 3 something could not be read, 4 not allowed.",
        ],
        run: run
    )

    static func run(_ arguments: Parsed) throws(CommandError) -> Int32 {
        var reader = try SpoolDoor.open(Places(arguments).spool())
        let usage = try reading { () throws(SpoolError) in try reader.usage() }
        try arguments.answer(arguments.has(.json) ? json(usage) : text(usage))
        return Notes.status(found: true, usage.report)
    }

    static func text(_ usage: SpoolUsage) -> String {
        let sizes = usage.sizes
        var files = TextTable(["FILES", ">BYTES"])
        let rows = [
            ("hot.db", sizes.hot), ("write-ahead log", sizes.log), ("its index", sizes.index),
            ("segments (\(FigureText.grouped(usage.segments)))", sizes.segments),
            ("set aside and other", sizes.other), ("all", sizes.total),
        ]
        for (name, size) in rows { files.add([name, FigureText.bytes(size)]) }
        return table("PEER", usage.peers) + "\n" + table("KIND", usage.kinds) + "\n" + files.text
    }

    private static func table(
        _ title: String,
        _ rows: [(name: String, share: SpoolUsage.Share)]
    ) -> String {
        var table = TextTable([title, ">RECORDS", ">PAYLOADS", ">HOT", ">COLD", ">RATIO"])
        for (name, share) in rows.sorted(by: { $0.share.bytes > $1.share.bytes }) {
            let tenths = share.bytes == 0 ? 0 : share.rawBytes * 10 / share.bytes
            table.add([
                name, FigureText.grouped(share.records), FigureText.bytes(share.rawBytes),
                FigureText.bytes(share.hotBytes), FigureText.bytes(share.coldBytes),
                "\(tenths / 10).\(tenths % 10)",
            ])
        }
        return table.text
    }

    static func json(_ usage: SpoolUsage) -> String {
        var object = ObjectWriter()
        add(usage.all, to: &object)
        object.add("peers", array: usage.peers.map { row("peer", $0.name, $0.share) })
        object.add("kinds", array: usage.kinds.map { row("kind", $0.name, $0.share) })
        var files = ObjectWriter()
        files.add("hot", usage.sizes.hot)
        files.add("log", usage.sizes.log)
        files.add("index", usage.sizes.index)
        files.add("segments", usage.sizes.segments)
        files.add("other", usage.sizes.other)
        files.add("total", usage.sizes.total)
        object.add("files", json: files.finished)
        object.add("segments", usage.segments)
        object.add("damaged", texts: usage.report.damagedBatches)
        return String(decoding: object.finished, as: UTF8.self) + "\n"
    }

    private static func row(_ key: String, _ name: String, _ share: SpoolUsage.Share) -> [UInt8] {
        var object = ObjectWriter()
        object.add(key, name)
        add(share, to: &object)
        return object.finished
    }

    private static func add(_ share: SpoolUsage.Share, to object: inout ObjectWriter) {
        object.add("records", share.records)
        object.add("bytes", share.rawBytes)
        object.add("hot", share.hotBytes)
        object.add("cold", share.coldBytes)
    }
}
