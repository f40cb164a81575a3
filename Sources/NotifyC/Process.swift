internal import NotifyClient
internal import Synchronization

/// The client of this process: one, made by the first call, never let go.
enum Process {
    /// The client's address; 0 before the first call.
    ///
    /// Without a lock, so that a fork in the middle of a call leaves nothing held in the child.
    private static let current = Atomic<UInt>(0)

    /// The client of the last call, which in a forked child may be the parent's; nil before the
    /// first.
    @inline(__always)
    static var latest: Unmanaged<NotifyClient>? { object(current.load(ordering: .acquiring)) }

    /// The client; nil if the process has no memory or descriptors left for one.
    ///
    /// In a forked child it is a new one: disabled, so that only `self.` names work. The parent's
    /// is left where it is: its threads are not here, and its locks may be held for ever. As none
    /// is ever let go, nobody has to count references, which would cost more than a check does.
    static var client: Unmanaged<NotifyClient>? {
        while true {
            let seen = current.load(ordering: .acquiring)
            if let client = object(seen), client._withUnsafeGuaranteedRef({ $0.isOurs }) {
                return client
            }
            guard let made = try? NotifyClient(attachingLaterTo: nil) else { return nil }
            made.isEnabled = seen == 0
            let held = Unmanaged.passRetained(made)
            let won = current.compareExchange(
                expected: seen,
                desired: UInt(bitPattern: held.toOpaque()),
                ordering: .acquiringAndReleasing
            )
            if won.exchanged { return held }
            held.release()
        }
    }

    private static func object(_ address: UInt) -> Unmanaged<NotifyClient>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }
}
