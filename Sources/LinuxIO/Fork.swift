internal import CLinux

/// What a forked child has to know of its parent's things.
public enum Fork {
    /// Starts counting; called again it does nothing.
    public static func watch() {
        _ = clinux_count_forks()
    }

    /// How often this process's line has forked since `watch`: another number than the one noted
    /// when a thing was made means that the thing, its threads and its locks are the parent's.
    ///
    /// A load from memory.
    public static var count: UInt32 { SharedWords.load32(counter) }

    /// Where the count lies, as long as the process lives: for `SharedWords`, where each ns counts.
    public static var counter: UnsafeRawPointer { UnsafeRawPointer(clinux_fork_counter()) }

    /// Lets every forked child lose a descriptor, so that the other end sees it close with this
    /// process; up to 256 at a time.
    ///
    /// - Returns: false if there are too many, and a child keeps it.
    @discardableResult
    public static func loseInChild(_ descriptor: Int32) -> Bool {
        clinux_lose_in_child(descriptor) == 0
    }

    /// Undoes `loseInChild`; call it before closing.
    public static func keepInChild(_ descriptor: Int32) {
        clinux_keep_in_child(descriptor)
    }
}
