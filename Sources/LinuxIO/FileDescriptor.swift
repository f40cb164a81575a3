internal import CLinux
internal import Glibc

/// An open file descriptor that is closed exactly once, when its owner goes.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number; valid as long as this value lives.
    public let raw: Int32

    /// Takes over an open descriptor.
    public init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// Hands the number over to the caller, who has to close it.
    public consuming func take() -> Int32 {
        let number = raw
        discard self
        return number
    }

    /// Reads up to `buffer.count` bytes; 0 is the end.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let count = Glibc.read(raw, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("read") }
        }
    }

    /// Writes all of `bytes`, however many calls it takes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try Descriptor.write(raw, bytes)
    }
}

/// Calls on descriptor numbers that somebody else owns.
public enum Descriptor {
    /// Standard input.
    public static let input: Int32 = 0
    /// Standard output.
    public static let output: Int32 = 1
    /// Standard error.
    public static let error: Int32 = 2

    /// Writes all of `bytes`, however many calls it takes.
    public static func write(_ raw: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(raw, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError("write")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes all of `bytes`, however many calls it takes.
    public static func write(_ raw: Int32, _ bytes: [UInt8]) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(raw, $0.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError("write")
            }
            offset += count
        }
    }

    /// Reads up to `chunk.count` bytes into `chunk`; 0 is the end.
    public static func read(_ raw: Int32, into chunk: inout [UInt8]) throws(SystemError) -> Int {
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(raw, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("read") }
        }
    }

    /// Writes `bytes` in one call; false if a non-blocking descriptor has no room for them.
    public static func tryWrite(_ raw: Int32, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) } == bytes.count
    }

    /// Sleeps until `readable` can be read or one of `writable` be written, or the time is over.
    @discardableResult
    public static func wait(readable: Int32, writable: [Int32] = [], milliseconds: Int32) -> Bool {
        wait(readable: [readable], writable: writable, milliseconds: milliseconds)
    }

    /// Sleeps until one of several descriptors is ready, `milliseconds` at the most (-1: for ever).
    ///
    /// - Returns: false if none is.
    @discardableResult
    public static func wait(readable: [Int32], writable: [Int32] = [], milliseconds: Int32) -> Bool
    {
        var entries = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        for raw in writable { entries.append(pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)) }
        return poll(&entries, nfds_t(entries.count), milliseconds) > 0
    }

    /// Fills `buffer` from `offset` bytes into the file; false if that ends before, or fails.
    public static func read(_ raw: Int32, at offset: Int, into buffer: inout [UInt8]) -> Bool {
        buffer.withUnsafeMutableBytes {
            pread(raw, $0.baseAddress, $0.count, off_t(offset)) == $0.count
        }
    }

    /// Reads into `chunk` from `offset` bytes into the file, up to its whole length, in one call.
    ///
    /// - Returns: how many bytes there were; fewer than `chunk.count` at the end of the file.
    public static func readSome(_ raw: Int32, at offset: UInt64, into chunk: inout [UInt8])
        throws(SystemError) -> Int
    {
        while true {
            let count = chunk.withUnsafeMutableBytes {
                pread(raw, $0.baseAddress, $0.count, off_t(clamping: offset))
            }
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError("read") }
        }
    }

    /// Sleeps until `raw` can be read or has ended; false if the time is over before.
    public static func isReadable(_ raw: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Closes a descriptor whose owner is the caller.
    public static func close(_ raw: Int32) {
        Glibc.close(raw)
    }

    /// True if the descriptor is a terminal.
    public static func isTerminal(_ raw: Int32) -> Bool {
        isatty(raw) == 1
    }

    /// Lets writes to a closed pipe fail with EPIPE instead of killing the process.
    public static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// A pipe that is closed on exec: the end to read and the end to write.
    public static func pipe(nonBlockingWrite: Bool) throws(SystemError) -> (
        read: Int32, write: Int32
    ) {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw SystemError("pipe") }
        if nonBlockingWrite { _ = fcntl(ends[1], F_SETFL, O_NONBLOCK) }
        return (ends[0], ends[1])
    }
}
