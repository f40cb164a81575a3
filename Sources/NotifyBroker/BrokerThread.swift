public import LinuxIO

/// How a broker serves.
public struct BrokerOptions: Sendable {
    /// The socket's path.
    public var path: String
    /// Who may use which names.
    public var rules = AccessRules()
    /// What everybody may have.
    public var quotas = BrokerQuotas.standard
    /// A socket that listens already (systemd's socket activation); nil to listen at `path`.
    ///
    /// The broker takes it over, and leaves the path alone when it ends.
    public var listener: Int32?

    /// A broker at a path, with the built-in rules.
    public init(path: String) {
        self.path = path
    }
}

/// A broker on a thread of its own.
public final class BrokerThread: Sendable {
    private let control: BrokerControl
    private let thread: OwnedThread

    /// Listens at `path` and serves, with the built-in rules.
    public convenience init(path: String) throws(SystemError) {
        try self.init(BrokerOptions(path: path))
    }

    /// Listens and serves.
    ///
    /// - Throws: where the socket cannot be made, or somebody else listens there already
    ///   (EADDRINUSE); EINVAL where `listener` is not such a socket.
    public init(_ options: BrokerOptions) throws(SystemError) {
        let control = try BrokerControl()
        let opened = Mailbox<SystemError?>(capacity: 1)
        thread = try OwnedThread("bus") {
            OwnedThread.waitExactly()
            do throws(SystemError) {
                var broker = try Broker(options)
                _ = opened.trySend(nil)
                broker.run(control)
            } catch {
                _ = opened.trySend(error)
            }
        }
        self.control = control
        if let failure = opened.receive() ?? nil { throw failure }
    }

    /// Ends all connections and the thread.
    public func stop() {
        control.stop()
        thread.join()
    }

    /// Puts other rules in the place of those at the start, for names that come to be from now on;
    /// a name that exists keeps what it was given.
    ///
    /// Safe from any thread; returns at once.
    public func replace(_ rules: AccessRules) {
        control.replace(rules)
    }

    /// The broker's counters as of the last call, or shortly after it; zeros the first time.
    ///
    /// Safe from any thread; returns at once.
    public var figures: BrokerFigures { control.figures() }
}
