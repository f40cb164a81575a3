internal import Basics
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol

/// What `intel notify` prints, each line at once: notifyutil's forms, and JSON.
struct NotifyPrinter {
    let script: NotifyScript
    let arguments: Parsed

    /// What `-g` asks for; also where all else is quiet.
    func state(_ name: String, _ value: UInt64) throws(CommandError) {
        if script.isJSON {
            var object = ObjectWriter()
            object.add("name", name)
            object.add("state", value)
            return try line(object)
        }
        try arguments.answer("\(TerminalText.escaped(name)) \(value)\n")
    }

    /// That a signal came, before the names that it was for.
    func signal(_ number: Int32) throws(CommandError) {
        if script.isQuiet || script.isJSON { return }
        try arguments.answer("SIGNAL \(number)\n")
    }

    /// One report of a watched name; `state` fails where it cannot be read any more.
    func event(
        _ token: NotifyToken,
        _ name: String,
        _ state: Result<UInt64, NotifyStatus>,
        _ delivery: NotifyScript.Delivery,
        _ event: NotifyEvent?
    ) throws(CommandError) {
        if script.isQuiet { return }
        let now = Clock.system.wall()
        if script.isJSON {
            var object = ObjectWriter()
            object.add("token", Int64(token))
            object.add("time", FigureText.stamp(now))
            object.add("name", name)
            if let value = try? state.get() { object.add("state", value) }
            object.add("type", delivery.name)
            if let event { Self.add(event, to: &object) }
            return try line(object)
        }
        let shown = TerminalText.escaped(name)
        guard script.isVerbose else {
            try arguments.answer(shown + "\n")
            return
        }
        let value =
            switch state {
            case .success(let value): "\(value)"
            case .failure(let status): ": Failed with code \(status.rawValue)"
            }
        let thousandths = String(now / 1_000_000 % 1000 + 1000).dropFirst()
        let time = "\(now / 1_000_000_000).\(thousandths)"
        try arguments.answer("[\(token)] \(time) \(shown) \(value) \(delivery.name)\n")
    }

    /// Names with all that the broker knows of them.
    func names(_ reports: [NameReport]) throws(CommandError) {
        if script.isQuiet { return }
        if script.isJSON {
            for report in reports { try line(Self.object(report)) }
            return
        }
        var table = TextTable([
            "NAME", ">STATE", ">POSTS", ">MERGED", ">TOLD", ">WAITING", ">POOL", ">PID", ">UID",
            "OWNER",
        ])
        for report in reports {
            let info = report.info
            table.add(
                [info.name]
                    + [info.state, info.posts, report.merged, UInt64(report.subscribers)].map(
                        String.init
                    )
                    + ["\(report.waiting)", "\(info.poolCount)", "\(info.pid)", "\(info.uid)"]
                    + [Self.owner(info)]
            )
        }
        if !reports.isEmpty { try arguments.answer(table.text) }
    }

    /// Connections with their counters.
    func connections(_ reports: [ConnectionReport]) throws(CommandError) {
        if script.isQuiet { return }
        if script.isJSON {
            for report in reports { try line(Self.object(report)) }
            return
        }
        var table = TextTable([
            ">CONNECTION", ">PID", ">UID", ">NAMES", ">POOL", ">POSTS", ">TOLD", ">MERGED",
            ">WAITING", ">REFUSED", ">OVER QUOTA", ">MALFORMED", ">DEFERRED",
        ])
        for report in reports {
            table.add(
                ["\(report.number)", "\(report.pid)", "\(report.uid)", "\(report.registrations)"]
                    + [report.poolWords, report.posts, report.delivered, report.merged].map(
                        String.init
                    )
                    + ["\(report.waiting)", "\(report.refused)", "\(report.quotaHits.total)"]
                    + ["\(report.malformed)", "\(report.deferred)"]
            )
        }
        if !reports.isEmpty { try arguments.answer(table.text) }
    }

    /// Whose a name is: a connection's, or why it is nobody's any more.
    private static func owner(_ info: NameInfo) -> String {
        if info.cause != .post { return info.cause.name }
        return info.connection == 0 ? "-" : "connection \(info.connection)"
    }

    private static func object(_ report: NameReport) -> ObjectWriter {
        let info = report.info
        var object = ObjectWriter()
        object.add("name", info.name)
        object.add("state", info.state)
        object.add("state_number", info.stateNumber)
        object.add("posts", info.posts)
        object.add("merged", report.merged)
        object.add("registrations", UInt64(report.registrations))
        object.add("subscribers", UInt64(report.subscribers))
        object.add("waiting", UInt64(report.waiting))
        object.add("pool", UInt64(info.poolCount))
        if info.pid != 0 {
            object.add("pid", Int64(info.pid))
            object.add("uid", UInt64(info.uid))
            object.add("connection", info.connection)
        }
        if info.cause != .post { object.add("cause", info.cause.name) }
        if report.deadline > 0 { object.add("deadline_ms", UInt64(report.deadline)) }
        return object
    }

    private static func object(_ report: ConnectionReport) -> ObjectWriter {
        var hits = ObjectWriter()
        hits.add("registrations", UInt64(report.quotaHits.registrations))
        hits.add("names", UInt64(report.quotaHits.names))
        hits.add("pool_words", UInt64(report.quotaHits.poolWords))
        hits.add("posts", UInt64(report.quotaHits.posts))
        hits.add("lingers", UInt64(report.quotaHits.lingers))
        var object = ObjectWriter()
        object.add("connection", report.number)
        object.add("pid", Int64(report.pid))
        object.add("uid", UInt64(report.uid))
        object.add("gid", UInt64(report.gid))
        object.add("registrations", UInt64(report.registrations))
        object.add("pool_words", report.poolWords)
        object.add("posts", report.posts)
        object.add("delivered", report.delivered)
        object.add("merged", report.merged)
        object.add("waiting", UInt64(report.waiting))
        object.add("refused", report.refused)
        object.add("malformed", UInt64(report.malformed))
        object.add("deferred", UInt64(report.deferred))
        object.add("over_quota", json: hits.finished)
        return object
    }

    private static func add(_ event: NotifyEvent, to object: inout ObjectWriter) {
        object.add("post", event.post)
        object.add("merged", UInt64(event.merged))
        object.add("pid", Int64(event.pid))
        object.add("uid", UInt64(event.uid))
        object.add("connection", event.connection)
        object.add("cause", event.cause.name)
    }

    private func line(_ object: ObjectWriter) throws(CommandError) {
        try arguments.answer(String(decoding: object.finished, as: UTF8.self) + "\n")
    }
}
