internal import LinuxIO
internal import Synchronization

/// What other threads ask of a running broker: its loop hears the bell.
final class BrokerControl: Sendable {
    /// Rung after each request.
    private let bell: Wake
    private let isStopping = Atomic(false)
    private let wantsFigures = Atomic(false)
    private let rules = Mutex<AccessRules?>(nil)
    private let told = Mutex(BrokerFigures())

    init() throws(SystemError) {
        bell = try Wake()
    }

    /// For the broker's poller.
    var descriptor: Int32 { bell.descriptor }

    func stop() {
        isStopping.store(true, ordering: .releasing)
        bell.ring()
    }

    func replace(_ rules: AccessRules) {
        self.rules.withLock { $0 = rules }
        bell.ring()
    }

    /// The figures that were told last; asks for newer ones.
    func figures() -> BrokerFigures {
        wantsFigures.store(true, ordering: .releasing)
        bell.ring()
        return told.withLock { $0 }
    }

    /// Does what was asked; true if that is to stop.
    ///
    /// On the broker's thread.
    func serve(_ state: inout BrokerState, now: UInt64) -> Bool {
        bell.hear()
        let wanted = rules.withLock { rules in
            defer { rules = nil }
            return rules
        }
        if let wanted { state.replace(wanted, now: now) }
        if wantsFigures.exchange(false, ordering: .acquiring) {
            let figures = state.report
            told.withLock { $0 = figures }
        }
        return isStopping.load(ordering: .acquiring)
    }
}
