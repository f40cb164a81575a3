internal import LinuxIO

/// The right to change segments and their list: of the agent's thread for that, turn by turn, and
/// of whoever removes records by hand beside it.
///
/// It is a lock on the spool's folder (flock), so that no file is left that its next owner could
/// not open. It ends with the value.
struct SegmentLock: ~Copyable {
    private let folder: FileDescriptor

    /// Takes it; nil where somebody else has it.
    static func tryTake(_ directory: String) throws -> SegmentLock? {
        do throws(SystemError) {
            return SegmentLock(folder: try Files.lock(folder: directory))
        } catch {
            guard error.wouldBlock else { throw error }
            return nil
        }
    }

    /// Takes it, and waits for it for so many ns at the most; nil where it was not to be had.
    static func take(_ directory: String, patience: UInt64) throws -> SegmentLock? {
        let pause = try Wake()
        let end = Clock.system.boot().addingReportingOverflow(patience).partialValue
        while true {
            if let lock = try tryTake(directory) { return lock }
            if Clock.system.boot() >= end { return nil }
            pause.wait(nanoseconds: Self.pause)
        }
    }

    /// Between two attempts, ns.
    static let pause: UInt64 = 50_000_000
}
