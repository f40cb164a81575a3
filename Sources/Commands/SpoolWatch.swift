internal import Glibc
internal import LinuxIO

/// Sleeps until the spool's folder changes, somebody stops reading, or a second is over.
struct SpoolWatch: ~Copyable {
    /// Why the sleep ended.
    enum Ending {
        case changed, timedOut, readerGone
    }

    /// The watch; -1 where the kernel gave none, which `poll` passes over.
    private let descriptor: Int32
    private let reader: Int32

    /// Watches a folder; `reader` is the descriptor whose closing matters.
    ///
    /// Where the kernel gives no watch (their number is limited), only the timeout is left.
    init(folder: String, reader: Int32) {
        self.reader = reader
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        let events = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE
        if descriptor >= 0 { _ = inotify_add_watch(descriptor, folder, UInt32(events)) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sleeps for `milliseconds` at the most.
    func wait(milliseconds: Int32) -> Ending {
        var entries = [
            pollfd(fd: reader, events: 0, revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&entries, 2, milliseconds)
        if entries[0].revents != 0 { return .readerGone }
        guard ready > 0, entries[1].revents != 0 else { return .timedOut }
        // What changed does not matter, only that: all waiting events are thrown away.
        var chunk = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &chunk, chunk.count) > 0 {}
        return .changed
    }
}
