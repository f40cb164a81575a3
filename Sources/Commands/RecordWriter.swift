internal import LinuxIO

/// Writes rendered records to a descriptor, soon enough for a reader who waits for the first line
/// and in large pieces where many come.
struct RecordWriter: ~Copyable {
    /// How long a line may wait for more, in ns.
    private static let patience: UInt64 = 50_000_000

    /// How records stand beside each other.
    enum Layout {
        /// One after another, each with its line end.
        case lines
        /// The elements of one JSON array.
        case array
    }

    private var output: Output
    private let layout: Layout
    private var renderer: RecordRenderer
    private var lastFlush: UInt64 = 0
    private var failure: SystemError?
    /// Records written so far.
    private(set) var count: UInt64 = 0

    /// Writes to `descriptor`, which stays open.
    init(
        _ format: RecordFormat,
        zone: Zone,
        descriptor: Int32,
        layout: Layout = .lines
    ) {
        output = Output(descriptor)
        self.layout = layout
        let isTerminal = Descriptor.isTerminal(descriptor)
        renderer = RecordRenderer(format, zone: zone, isTerminal: isTerminal)
    }

    /// True once the reader has closed its end.
    var isClosed: Bool { output.isClosed }

    /// Writes a record; false if there is no use in going on.
    mutating func write(_ record: borrowing RecordItem) -> Bool {
        do throws(SystemError) {
            let item = copy record
            let opening = layout == .lines ? "" : count == 0 ? "[\n" : ",\n"
            try output.append { buffer in
                buffer.append(contentsOf: opening.utf8)
                renderer.append(item, to: &buffer)
                if layout == .array { buffer.removeLast() }
            }
            count += 1
            let now = Clock.system.boot()
            if now &- lastFlush > Self.patience {
                lastFlush = now
                try output.flush()
            }
        } catch {
            failure = error
        }
        return failure == nil && !output.isClosed
    }

    /// Writes out what waits.
    ///
    /// - Throws: this failure or an earlier one of `write`.
    mutating func flush() throws(CommandError) {
        do throws(SystemError) {
            if let failure { throw failure }
            try output.flush()
        } catch {
            throw CommandError(error)
        }
    }

    /// Closes the array, if it is one, and writes out what waits.
    mutating func finish() throws(CommandError) {
        if layout == .array, failure == nil {
            let closing = count == 0 ? "[]\n" : "\n]\n"
            try calling { () throws(SystemError) in try output.append(closing) }
        }
        try flush()
    }
}
