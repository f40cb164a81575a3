internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import Synchronization

/// One run of `intel notify`: its steps, and then its watches until none is left.
final class NotifySession {
    /// A name that is watched.
    private struct Watch {
        var token: NotifyToken
        var name: String
        /// Reports that are still to come; nil: without end.
        var left: UInt64?
        var delivery: NotifyScript.Delivery
        /// What `-file` reads.
        var descriptor: Int32 = -1
    }

    /// Events on their way from the client's thread, at most one a token: later ones merge.
    private final class News: Sendable {
        let events = Mutex<[NotifyToken: NotifyEvent]>([:])
        let wake: Wake

        init() throws(SystemError) { wake = try Wake() }

        func add(_ event: NotifyEvent) {
            events.withLock { events in
                var latest = event
                latest.merged &+= events[event.token]?.merged ?? 0
                events[event.token] = latest
            }
            wake.ring()
        }

        func take() -> [NotifyEvent] {
            events.withLock { events in
                defer { events = [:] }
                return events.values.sorted { $0.token < $1.token }
            }
        }
    }

    private let script: NotifyScript
    private let client: NotifyClient
    private let printer: NotifyPrinter
    private let news: News
    private var watches: [Watch] = []
    private var status = ExitStatus.success

    init(_ script: NotifyScript, _ client: NotifyClient, _ arguments: Parsed)
        throws(CommandError)
    {
        self.script = script
        self.client = client
        printer = NotifyPrinter(script: script, arguments: arguments)
        news = try calling { () throws(SystemError) in try News() }
    }

    /// Does every step, then reports until no watch is left or a signal ends it.
    func run(_ signals: borrowing Signals) throws(CommandError) -> Int32 {
        for step in script.steps { try perform(step) }
        while !watches.isEmpty {
            let isPolling = watches.contains { $0.delivery == .check || $0.delivery == .plain }
            var readable = [signals.descriptor, news.wake.descriptor]
            readable += watches.map(\.descriptor).filter { $0 >= 0 }
            Descriptor.wait(
                readable: readable,
                milliseconds: isPolling ? Int32(clamping: script.interval) : -1
            )
            while let signal = signals.next() {
                guard case .other(let number) = signal else { return status }
                try printer.signal(number)
                try look { $0.delivery == .signal(number) }
            }
            news.wake.hear()
            for event in news.take() { try report(event.token, event) }
            try look { $0.delivery == .check || $0.delivery == .plain }
            for descriptor in Set(watches.map(\.descriptor)) where descriptor >= 0 {
                for token in FileTokens.read(descriptor) { try report(token, nil) }
            }
        }
        return status
    }

    private func perform(_ step: NotifyScript.Step) throws(CommandError) {
        switch step {
        case .post(let name):
            try attempt(name) { () throws(NotifyStatus) in try client.post(name) }
        case .set(let name, let value):
            try with(name) { token throws(NotifyStatus) in try client.setState(token, value) }
        case .get(let name):
            var value: UInt64?
            try with(name) { token throws(NotifyStatus) in value = try client.state(token) }
            if let value { try printer.state(name, value) }
        case .watch(let name, let count, let delivery, let since):
            try watch(name, count, delivery, since)
        case .list(let prefix):
            let found = try attempt("list") { () throws(NotifyStatus) in
                try client.who(prefix: prefix)
            }
            if let found { try printer.names(found) }
        case .who:
            let found = try attempt("who") { () throws(NotifyStatus) in try client.connections() }
            if let found { try printer.connections(found) }
        }
    }

    private func watch(
        _ name: String,
        _ count: UInt64?,
        _ delivery: NotifyScript.Delivery,
        _ since: UInt64?
    ) throws(CommandError) {
        let (news, client) = (news, client)
        var made = Watch(token: -1, name: name, left: count, delivery: delivery)
        var before: UInt64 = 0
        let isDone: Void? = try attempt(name) { () throws(NotifyStatus) in
            switch delivery {
            case .dispatch: made.token = try client.registerDirect(name) { news.add($0) }
            case .check, .plain: made.token = try client.registerCheck(name)
            case .signal(let number): made.token = try client.registerSignal(name, number)
            case .file:
                (made.token, made.descriptor) = try client.registerFileDescriptor(name)
            }
            // The first check is true by definition; only posts from now on are news.
            _ = try client.check(made.token)
            if since != nil { before = try client.information(made.token).posts }
        }
        if isDone == nil { return }
        watches.append(made)
        if let since, before > since { try report(made.token, nil) }
    }

    /// Reports the watches of some sort that were posted since the last look.
    private func look(_ isMeant: (Watch) -> Bool) throws(CommandError) {
        for watch in watches where isMeant(watch) {
            if (try? client.check(watch.token)) == true { try report(watch.token, nil) }
        }
    }

    private func report(_ token: NotifyToken, _ event: NotifyEvent?)
        throws(CommandError)
    {
        guard let index = watches.firstIndex(where: { $0.token == token }) else { return }
        let watch = watches[index]
        let state = Result { () throws(NotifyStatus) in
            if let event { event.state } else { try client.state(token) }
        }
        try printer.event(token, watch.name, state, watch.delivery, event)
        guard let left = watch.left else { return }
        watches[index].left = left - 1
        if left > 1 { return }
        watches.remove(at: index)
        try? client.cancel(token)
    }

    /// Runs `body` with a registration of `name` that is there only for it.
    private func with(_ name: String, _ body: (NotifyToken) throws(NotifyStatus) -> Void)
        throws(CommandError)
    {
        try attempt(name) { () throws(NotifyStatus) in
            let token = try client.registerCheck(name)
            defer { try? client.cancel(token) }
            try body(token)
        }
    }

    /// Runs `body`; what it throws is told, and the exit status remembers it.
    @discardableResult
    private func attempt<Value>(
        _ subject: String,
        _ body: () throws(NotifyStatus) -> Value
    ) throws(CommandError) -> Value? {
        do throws(NotifyStatus) {
            return try body()
        } catch {
            let name = TerminalText.escaped(subject)
            StandardError.line("\(name): Failed with code \(error.rawValue): \(error)")
            status = ExitStatus.failure
            return nil
        }
    }
}

/// Tokens that a registration's file descriptor brings: 4 bytes each, network byte order.
enum FileTokens {
    /// Those that are there now; does not wait.
    static func read(_ descriptor: Int32) -> [NotifyToken] {
        var found: [NotifyToken] = []
        while Descriptor.isReadable(descriptor, milliseconds: 0) {
            var bytes = [UInt8](repeating: 0, count: 4)
            guard let count = try? Descriptor.read(descriptor, into: &bytes), count == 4 else {
                break
            }
            found.append(NotifyToken(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
        }
        return found
    }
}
