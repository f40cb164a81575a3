internal import LinuxIO

/// Where the collect thread waits, and what it tells of itself meanwhile: its bell, and whoever
/// asks on the control socket.
struct Desk: ~Copyable {
    private static let wakeTag: UInt64 = 0
    private static let controlTag: UInt64 = 1
    /// How old figures may be, ns.
    private static let figuresInterval: UInt64 = 250_000_000

    private let wake: Wake
    private let report: AgentReport
    private let control: ControlSocket?
    private var poller: Poller
    private var figures = AgentFigures()
    private var rate = RateMeter()
    private var nextFigures: UInt64 = 0

    /// A desk of the spool that the report names.
    ///
    /// Where no socket can be made there, that is told and the agent goes on without.
    init(wake: Wake, report: AgentReport) throws(SystemError) {
        let poller = try Poller()
        try poller.add(wake.descriptor, tag: Self.wakeTag)
        var control: ControlSocket?
        do throws(SystemError) {
            let made = try ControlSocket(spool: report.spool)
            try poller.add(made.descriptor, tag: Self.controlTag)
            control = made
        } catch {
            StandardError.line("intel: \(error): 'intel status' cannot ask this agent")
        }
        self.wake = wake
        self.report = report
        self.poller = poller
        self.control = control
    }

    /// True if the figures are old.
    func isDue(now: UInt64) -> Bool { now >= nextFigures }

    /// Notes fresh figures.
    ///
    /// - Returns: the same with what only a series of them shows.
    mutating func note(_ fresh: AgentFigures, now: UInt64) -> AgentFigures {
        nextFigures = now + Self.figuresInterval
        figures = fresh
        figures.storedPerSecond = rate.note(fresh.stored, now: now)
        return figures
    }

    /// Sleeps until the bell rings, `nanoseconds` have passed or somebody has asked, and answers.
    mutating func wait(nanoseconds: UInt64) {
        // Rounded up, so that what is due is due when the wait for it ends.
        let timeout = Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
        var isAsked = false
        try? poller.wait(timeout: timeout) { isAsked = isAsked || $0.tag == Self.controlTag }
        wake.hear()
        if isAsked { control?.answer(report.json(figures, now: Clock.system.boot())) }
    }

    /// Answers nobody any more.
    func close() {
        control?.close()
    }
}
