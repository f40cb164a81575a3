internal import LinuxIO

/// Waits for a condition, looking every few milliseconds, with a generous limit: tests depend on
/// what happens, not on how fast.
///
/// - Returns: whether the condition came true within `seconds`.
public func eventually(_ seconds: Double = 30, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Clock.system.boot() + UInt64(seconds * 1e9)
    let bell = try? Wake()
    while true {
        if try condition() { return true }
        if Clock.system.boot() > deadline { return false }
        bell?.wait(nanoseconds: 5_000_000)
    }
}
