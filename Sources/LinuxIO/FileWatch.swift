internal import Glibc

/// Tells what happens to files and folders (inotify).
///
/// Readable while there is news; any thread may add, remove and read. A watch belongs to the file
/// and not to its name: it stays with a file that is renamed.
public final class FileWatch: Sendable {
    /// What is watched for, and what has happened.
    public struct Changes: OptionSet, Sendable {
        /// The bits of inotify.
        public let rawValue: UInt32
        /// Any combination of inotify's bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Contents were written or cut.
        public static let modified = Changes(rawValue: UInt32(IN_MODIFY))
        /// Mode, owner, times or the number of names have changed.
        public static let attributes = Changes(rawValue: UInt32(IN_ATTRIB))
        /// A writer has closed the file.
        public static let written = Changes(rawValue: UInt32(IN_CLOSE_WRITE))
        /// In the watched folder: something was made.
        public static let created = Changes(rawValue: UInt32(IN_CREATE))
        /// In the watched folder: something was removed.
        public static let deleted = Changes(rawValue: UInt32(IN_DELETE))
        /// In the watched folder: something lost this name by a rename.
        public static let movedFrom = Changes(rawValue: UInt32(IN_MOVED_FROM))
        /// In the watched folder: something got this name by a rename.
        public static let movedTo = Changes(rawValue: UInt32(IN_MOVED_TO))
        /// The watched file itself was renamed.
        public static let selfMoved = Changes(rawValue: UInt32(IN_MOVE_SELF))
        /// The watched file itself is gone: no name and no open descriptor leads to it any more.
        public static let selfDeleted = Changes(rawValue: UInt32(IN_DELETE_SELF))
        /// Only told: the file system of the watched file was unmounted.
        public static let unmounted = Changes(rawValue: UInt32(IN_UNMOUNT))
        /// Only told: the watch has ended, its number may be given out again.
        public static let ended = Changes(rawValue: UInt32(IN_IGNORED))
        /// Only told, with watch -1: the kernel's queue was full and events were thrown away.
        public static let overflow = Changes(rawValue: UInt32(IN_Q_OVERFLOW))
    }

    /// One thing that has happened.
    public struct Event: Sendable, Equatable {
        /// The number that `add` gave; -1 with `overflow`.
        public var watch: Int32
        /// What has happened.
        public var changes: Changes
        /// Where the watch is on a folder: the name in it; else empty.
        public var name: String
        /// Joins the two halves of one rename; else 0.
        public var cookie: UInt32
    }

    private let file: FileDescriptor

    /// Watches nothing yet.
    ///
    /// - Throws: where the user has too many of them already (`fs.inotify.max_user_instances`).
    public init() throws(SystemError) {
        let raw = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard raw >= 0 else { throw SystemError("inotify_init1") }
        file = FileDescriptor(owning: raw)
    }

    /// Readable while there are events; for a `Poller`.
    public var descriptor: Int32 { file.raw }

    /// Watches what `path` leads to; a second call for the same file replaces `changes`.
    ///
    /// - Returns: the number of the watch, the same for the same file whatever its names.
    public func add(_ path: String, for changes: Changes) throws(SystemError) -> Int32 {
        let watch = inotify_add_watch(file.raw, path, changes.rawValue)
        guard watch >= 0 else { throw SystemError("watch", path) }
        return watch
    }

    /// Watches the file that is open as `raw`, under whatever name it has by now.
    public func add(opened raw: Int32, for changes: Changes) throws(SystemError) -> Int32 {
        try add("/proc/self/fd/\(raw)", for: changes)
    }

    /// Ends a watch; one that has ended already is fine.
    public func remove(_ watch: Int32) {
        inotify_rm_watch(file.raw, watch)
    }

    /// All events that wait, in the order in which they happened; does not block.
    public func events() -> [Event] {
        var found: [Event] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(file.raw, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return found }
            chunk.withUnsafeBytes { bytes in
                Self.decode(UnsafeRawBufferPointer(rebasing: bytes[..<count]), into: &found)
            }
        }
    }

    /// Events as the kernel writes them: 16 bytes, then a name that is filled up with NULs.
    private static func decode(_ bytes: UnsafeRawBufferPointer, into found: inout [Event]) {
        let headBytes = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + headBytes <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let end = offset + headBytes + length
            guard end <= bytes.count else { return }
            let name = bytes[offset + headBytes..<end].prefix { $0 != 0 }
            found.append(
                Event(
                    watch: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                    changes: Changes(
                        rawValue: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    ),
                    name: String(decoding: name, as: UTF8.self),
                    cookie: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
                )
            )
            offset = end
        }
    }
}
