internal import LinuxIO
internal import Spool

/// `query --follow`: the history, then every record that is committed after it, once each, in the
/// order of commits, until the reader goes.
struct Follower: ~Copyable {
    private let folder: String
    private let query: Query
    private var writer: RecordWriter
    private var reader: SpoolReader
    private var identity: FileIdentity?
    private var seen: UInt64 = 0
    /// How many damaged batches of this reader have been named.
    private var damageTold = 0

    /// Opens the spool in `folder`.
    init(_ folder: String, _ query: Query, _ writer: consuming RecordWriter) throws(CommandError) {
        let identity = FileIdentity(folder + "/hot.db")
        let opened = try SpoolDoor.open(folder)
        self.folder = folder
        self.query = query
        self.writer = writer
        self.identity = identity
        reader = opened
    }

    /// Runs until the reader of the output has gone: that is success.
    mutating func run(output: Int32) throws(CommandError) -> Int32 {
        // Watching begins before the first look, so that no commit falls between the two.
        let watch = SpoolWatch(folder: folder, reader: output)
        try history()
        try writer.flush()
        var hasComplained = false
        while !writer.isClosed {
            do throws(SpoolError) {
                try takeNew()
                hasComplained = false
            } catch {
                switch error.kind {
                case .denied, .newer: throw CommandError(error)
                default: break
                }
                identity = nil
                if !hasComplained {
                    let text = TerminalText.escaped(error.description)
                    StandardError.line("intel: \(text), retrying every second")
                    hasComplained = true
                }
            }
            try writer.flush()
            if writer.isClosed { break }
            if watch.wait(milliseconds: 1000) == .readerGone { break }
        }
        return ExitStatus.success
    }

    /// What is there already.
    ///
    /// Records that are committed while it is read are left to `takeNew`.
    private mutating func history() throws(CommandError) {
        let start = try reading { () throws(SpoolError) in try reader.summary().lastStore }
        seen = start
        if query.last == 0 { return }
        let query = query
        let report = try reading { () throws(SpoolError) in
            try reader.forEach(query) { view in
                view.store > start || writer.write(RecordItem(view))
            }
        }
        if !report.isWhole { _ = Notes.status(found: true, report) }
    }

    /// Names each damaged batch once.
    private mutating func tellDamage() {
        for batch in reader.followReport.damagedBatches.dropFirst(damageTold) {
            StandardError.line("intel: " + TerminalText.escaped(batch) + ", skipping")
        }
        damageTold = reader.followReport.damagedBatches.count
    }

    private mutating func takeNew() throws(SpoolError) {
        let current = FileIdentity(folder + "/hot.db")
        if current != identity {
            reader = try SpoolReader(directory: folder)
            identity = current
            damageTold = 0
            // A spool that was made anew counts from 1 again.
            if try reader.summary().lastStore < seen { seen = 0 }
        }
        var query = query
        query.last = nil
        query.reverse = false
        seen = try reader.follow(after: seen, query) { writer.write(RecordItem($0)) }
        tellDamage()
    }
}
