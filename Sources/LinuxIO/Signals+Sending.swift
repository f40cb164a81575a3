internal import CLinux
internal import Glibc

extension Signals {
    /// Sends this process a signal; a number that is none does nothing.
    public static func sendToSelf(_ number: Int32) {
        kill(getpid(), number)
    }

    /// Keeps signals away from the calling thread, except those that its own faults raise.
    ///
    /// For a library's threads: the program's handlers run on the program's threads.
    public static func blockAll() {
        _ = clinux_block_signals()
    }
}
