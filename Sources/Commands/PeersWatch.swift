internal import LinuxIO

/// `intel peers --watch`: the peers, again each time something about them changes.
struct PeersWatch: ~Copyable {
    /// Commits come faster than anybody reads: it is drawn five times a second at the most.
    static let pauseMilliseconds: Int32 = 200

    private let arguments: Parsed
    private let folder: String
    private let signals: Signals
    private var output: Output
    private var drawn: String?

    init(_ arguments: Parsed) throws(CommandError) {
        self.arguments = arguments
        folder = Places(arguments).spool()
        signals = try Daemon.signals()
        output = Output(arguments.output)
    }

    /// Runs until a signal comes or nobody reads: both are success.
    consuming func run() throws(CommandError) -> Int32 {
        // Watching begins before the first look, so that no commit falls between the two.
        let watch = SpoolWatch(
            folder: folder,
            reader: arguments.output,
            stop: signals.descriptor
        )
        var failure: String?
        while true {
            do throws(CommandError) {
                // Heartbeats are news for eyes alone: in a pipe they would be a table every second.
                let isLive = Descriptor.isTerminal(arguments.output)
                let peers = try PeersCommand.read(folder, arguments, isLive: isLive)
                try draw(PeersCommand.text(peers, arguments))
                failure = nil
            } catch {
                // A spool that is made anew is not there for a moment.
                guard drawn != nil, error.status != ExitStatus.denied else { throw error }
                let text = error.description
                if failure != text { StandardError.line(text) }
                failure = text
            }
            if output.isClosed { return ExitStatus.success }
            switch watch.wait(milliseconds: 1000) {
            case .readerGone, .stopped: return ExitStatus.success
            case .timedOut: break
            case .changed:
                if Descriptor.isReadable(
                    signals.descriptor,
                    milliseconds: Self.pauseMilliseconds
                ) {
                    return ExitStatus.success
                }
            }
        }
    }

    private mutating func draw(_ text: String) throws(CommandError) {
        guard text != drawn else { return }
        let isTerminal = Descriptor.isTerminal(arguments.output)
        // A terminal is cleared; in a pipe an empty line parts one table from the next.
        let before = isTerminal ? "\u{1b}[H\u{1b}[2J" : drawn == nil ? "" : "\n"
        do throws(SystemError) {
            try output.append(before + text)
            try output.flush()
        } catch {
            throw CommandError(error)
        }
        drawn = text
    }
}
