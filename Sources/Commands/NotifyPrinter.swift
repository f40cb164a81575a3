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
