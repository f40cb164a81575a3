internal import LinuxIO
internal import Spool
internal import Telemetry

/// What the flags that `query` and `export` share mean.
struct RecordFilter {
    /// The flags, for the table.
    static let flags: [Flag] = [
        .since, .until, .lines, .reverse, .peer, .kind, .priority, .grep, .word, .utc, .quiet,
        .spool,
    ]

    /// What is asked of the spool.
    let query: Query
    /// The zone of printed and of written times.
    let zone: Zone

    /// Works the flags out; `now` is the wall clock, `zone` that of this process.
    init(
        _ arguments: Parsed,
        now: Int64 = Clock.system.wall(),
        zone: Zone = .local
    ) throws(CommandError) {
        let zone = arguments.has(.utc) ? .utc : zone
        self.zone = zone
        var query = Query()
        if let text = arguments.value(.since) {
            let time = try TimeExpression.parse(text, flag: .since, now: now, zone: zone)
            query.since = time.first
        }
        if let text = arguments.value(.until) {
            let time = try TimeExpression.parse(text, flag: .until, now: now, zone: zone)
            query.until = time.last
        }
        if let since = query.since, let until = query.until, since > until {
            throw CommandError(
                "--since is after --until: no time lies between them",
                hint: "swap them"
            )
        }
        query.peers = arguments.all(.peer).map { Glob($0) }
        query.kinds = arguments.all(.kind).map { Glob($0) }
        query.levels = try Self.levels(arguments.all(.priority))
        query.text = try Self.pattern(arguments)
        query.last = try Self.lines(arguments)
        query.reverse = arguments.has(.reverse)
        self.query = query
    }

    private static func pattern(_ arguments: Parsed) throws(CommandError) -> TextPattern? {
        let all = arguments.all(.grep)
        guard all.count <= 1 else {
            throw CommandError("--grep was given \(all.count) times", hint: "give one pattern")
        }
        guard !all.isEmpty || !arguments.has(.word) else {
            throw CommandError("--word goes with --grep", hint: "name the word with --grep")
        }
        return all.first.map { TextPattern($0, isWord: arguments.has(.word)) }
    }

    private static func lines(_ arguments: Parsed) throws(CommandError) -> Int? {
        arguments.value(.lines) == "all" ? nil : try arguments.number(.lines)
    }

    /// One level means that one and worse; `FROM..TO` means all between, in either order.
    ///
    /// Several are OR, as far as together they are one range.
    static func levels(_ texts: [String]) throws(CommandError) -> ClosedRange<UInt8>? {
        var wanted: Set<UInt8> = []
        for text in texts {
            var ends: [UInt8] = []
            for part in text.split(separator: "..", omittingEmptySubsequences: false) {
                guard let level = Level(name: String(part)) else { throw unknown(level: text) }
                ends.append(level.rawValue)
            }
            switch ends.count {
            case 1: wanted.formUnion(0...ends[0])
            case 2: wanted.formUnion(min(ends[0], ends[1])...max(ends[0], ends[1]))
            default: throw unknown(level: text)
            }
        }
        guard let low = wanted.min(), let high = wanted.max() else { return nil }
        guard wanted.count == Int(high - low) + 1 else {
            throw CommandError(
                "--priority: the given ranges leave a gap between them",
                hint: "give one range, such as err..notice"
            )
        }
        return low...high
    }

    private static func unknown(level text: String) -> CommandError {
        CommandError(
            "--priority: '\(text)' is no level",
            hint: "use emerg, alert, crit, err, warning, notice, info, debug or 0 to 7, "
                + "or a range such as emerg..err"
        )
    }
}
