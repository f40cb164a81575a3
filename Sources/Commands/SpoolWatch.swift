internal import Glibc
internal import LinuxIO

/// Sleeps until the spool's folder changes, somebody stops reading, or a second is over.
struct SpoolWatch {
    /// Why the sleep ended.
    enum Ending {
        case changed, timedOut, readerGone, stopped
    }

    /// Nil where the kernel gave none (their number is limited): only the timeout is left then.
    private let watch: FileWatch?
    private let reader: Int32
    private let stop: Int32

    /// Watches a folder.
    ///
    /// - Parameters:
    ///   - reader: the descriptor whose closing matters.
    ///   - stop: a descriptor that is readable once all is to end; -1 for none.
    init(folder: String, reader: Int32, stop: Int32 = -1) {
        self.reader = reader
        self.stop = stop
        watch = try? FileWatch()
        _ = try? watch?.add(folder, for: [.modified, .created, .movedTo, .deleted])
    }

    /// Sleeps for `milliseconds` at the most.
    func wait(milliseconds: Int32) -> Ending {
        // `poll` passes over descriptors below 0.
        var entries = [
            pollfd(fd: reader, events: 0, revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
            pollfd(fd: watch?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&entries, nfds_t(entries.count), milliseconds)
        if entries[0].revents != 0 { return .readerGone }
        if entries[1].revents != 0 { return .stopped }
        guard ready > 0, entries[2].revents != 0 else { return .timedOut }
        // What changed does not matter, only that.
        _ = watch?.events()
        return .changed
    }
}
