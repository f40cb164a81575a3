internal import InternalNotification
internal import LinuxIO
public import NotifyBroker
internal import NotifyClient
internal import NotifyProtocol
internal import Spool
internal import Synchronization
internal import Telemetry

/// The collector service: the bus where nobody else hosts it, the collect thread, the spool thread.
///
/// Start order: spool, bus, collect. Stop order: collect (reads what is in the rings), spool
/// (writes it), acknowledgements, bus.
public final class Agent: Sendable {
    private let wake: Wake
    private let spool = SpoolThread()
    private let mustStop = Atomic<Bool>(false)
    private let figuresBox = Mutex(AgentFigures())
    private let collectThread = Mutex<OwnedThread?>(nil)
    private let broker = Mutex<BrokerThread?>(nil)
    /// True if this agent hosts the bus.
    public let isHostingBus: Bool

    /// Starts everything; returns once the agent is collecting.
    ///
    /// - Throws: `AgentError` or `SpoolError`, with nothing left running.
    public init(_ options: AgentOptions) throws {
        wake = try Wake()
        try spool.start(
            directory: options.spool,
            durability: options.durability,
            compaction: options.compaction,
            retention: options.retention,
            completed: wake
        )
        do {
            let hosted = try Self.host(options)
            broker.withLock { $0 = hosted }
            isHostingBus = hosted != nil
            let client = try Self.connect(options)
            try startCollecting(client, options)
        } catch {
            spool.stop()
            broker.withLock { $0 }?.stop()
            throw error
        }
    }

    /// The agent in figures, at most half a second old.
    ///
    /// Safe from any thread.
    public var figures: AgentFigures { figuresBox.withLock { $0 } }

    /// Puts other rules in the place of those of the bus, if this agent hosts it: see
    /// `BrokerThread.replace`.
    ///
    /// Safe from any thread.
    public func replace(_ rules: AccessRules) { broker.withLock { $0 }?.replace(rules) }

    /// Stops in order and returns when all is on the disk and everybody was told.
    public func stop() {
        mustStop.store(true, ordering: .sequentiallyConsistent)
        wake.ring()
        collectThread.withLock { $0 }?.join()
        broker.withLock { $0 }?.stop()
    }

    private static func host(_ options: AgentOptions) throws -> BrokerThread? {
        if options.busMode == .external { return nil }
        if options.busMode == .auto,
            let other = try? NotifyClient(path: options.busPath, attachTimeout: 0)
        {
            other.close()
            return nil
        }
        var hosting = BrokerOptions(path: options.busPath)
        hosting.rules = options.rules
        return try BrokerThread(hosting)
    }

    private static func connect(_ options: AgentOptions) throws -> NotifyClient {
        do throws(NotifyStatus) {
            return try NotifyClient(path: options.busPath, attachTimeout: 10_000_000_000)
        } catch {
            throw AgentError(
                "connect to bus '\(options.busPath)': nobody answers",
                hint: "start 'intel bus', or leave --bus-mode at auto"
            )
        }
    }

    private static func attach(_ client: NotifyClient, _ options: AgentOptions, _ wake: Wake)
        throws(AgentError) -> BusSource
    {
        let deadline = Clock.system.boot() + 2_000_000_000
        let pause = try? Wake()
        while true {
            do throws(NotifyStatus) {
                return try BusSource(
                    client: client,
                    channel: options.channel,
                    wake: wake,
                    clock: .system
                )
            } catch {
                // A collector that was killed a moment ago may still be on the broker's books.
                if Clock.system.boot() < deadline {
                    pause?.wait(nanoseconds: 50_000_000)
                    continue
                }
                client.close()
                throw AgentError(
                    "collect channel '\(options.channel)': \(error)",
                    hint: "another agent collects it; one per channel and bus"
                )
            }
        }
    }

    /// Starts the thread; the source is made inside it and never leaves.
    private func startCollecting(_ client: NotifyClient, _ options: AgentOptions) throws {
        let started = Mailbox<(any Error)?>(capacity: 1)
        let made = try OwnedThread("collect") { [self] in
            do {
                let books = try StoredBooks(directory: options.spool).open()
                let source = try Self.attach(client, options, wake)
                let report = AgentReport(options, isHostingBus: isHostingBus)
                var desk = try Desk(wake: wake, report: report)
                _ = started.trySend(nil)
                collect(source, consume books, &desk)
            } catch {
                _ = started.trySend(error)
            }
        }
        if let failure = started.receive() ?? nil { throw failure }
        collectThread.withLock { $0 = made }
    }

    /// Takes the books with it, so that nothing else keeps the spool open when it lets them go.
    private func collect(
        _ source: BusSource,
        _ books: consuming Books,
        _ desk: inout Desk
    ) {
        let clock = Clock.system
        var collector = Collector(
            source: source,
            books: consume books,
            spool: spool,
            clock: clock,
            credentials: (Environment.pid, Environment.uid)
        )
        while !mustStop.load(ordering: .sequentiallyConsistent) {
            let next = collector.turn()
            let now = clock.boot()
            if desk.isDue(now: now) {
                var fresh = collector.figures
                fresh.broker = broker.withLock { $0 }?.figures
                let figures = desk.note(fresh, now: now)
                figuresBox.withLock { $0 = figures }
            }
            desk.wait(nanoseconds: next > now ? next - now : 1)
        }
        collector.finish()
        desk.close()
        spool.stop()
        collector.close()
        let figures = collector.figures
        figuresBox.withLock { $0 = figures }
    }
}
