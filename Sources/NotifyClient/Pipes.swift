internal import LinuxIO

/// The pipes of file-descriptor registrations: both ends are the client's own.
///
/// A pipe is known by its end to read, which the program has; several tokens may write to one.
struct Pipes: Sendable {
    private struct Pipe {
        let write: Int32
        var users = 0
        /// Tokens that found it full, oldest first, each once.
        var waiting: [NotifyToken] = []
    }

    private var pipes: [Int32: Pipe] = [:]
    /// Ends to write that the second thread is to close: it may be waiting for them.
    private var dead: [Int32] = []

    /// Makes a pipe that nobody uses yet.
    ///
    /// - Returns: its end to read.
    mutating func make() throws(SystemError) -> Int32 {
        let ends = try Descriptor.pipe(nonBlockingWrite: true)
        pipes[ends.read] = Pipe(write: ends.write)
        return ends.read
    }

    /// Adds a user; false if there is no such pipe.
    mutating func use(_ read: Int32) -> Bool {
        pipes[read]?.users += 1
        return pipes[read] != nil
    }

    /// Takes a user away, and closes the pipe behind the last one.
    mutating func release(_ read: Int32, _ token: NotifyToken? = nil) {
        guard var pipe = pipes[read] else { return }
        let wasFull = !pipe.waiting.isEmpty
        pipe.users -= 1
        pipe.waiting.removeAll { $0 == token }
        pipes[read] = pipe
        guard pipe.users <= 0 else { return }
        pipes[read] = nil
        Descriptor.close(read)
        if wasFull { dead.append(pipe.write) } else { Descriptor.close(pipe.write) }
    }

    /// Writes a token; false if the pipe is full, and the token waits then.
    mutating func write(_ token: NotifyToken, to read: Int32) -> Bool {
        guard let pipe = pipes[read] else { return true }
        if pipe.waiting.isEmpty, Descriptor.tryWrite(pipe.write, Self.bytes(token)) { return true }
        pipes[read]?.waiting.append(token)
        return false
    }

    /// Writes what waits, as far as there is room.
    ///
    /// - Returns: the tokens that were written.
    mutating func drain(_ read: Int32) -> [NotifyToken] {
        guard let pipe = pipes[read] else { return [] }
        let rest = pipe.waiting.drop { Descriptor.tryWrite(pipe.write, Self.bytes($0)) }
        pipes[read]?.waiting = Array(rest)
        return Array(pipe.waiting.prefix(pipe.waiting.count - rest.count))
    }

    /// Forgets what waits for a pipe that the program has closed against the rules.
    mutating func giveUp(_ read: Int32) -> [NotifyToken] {
        defer { pipes[read]?.waiting = [] }
        return pipes[read]?.waiting ?? []
    }

    /// Pipes that tokens wait for: the end to read, and the one to write.
    var blocked: [Int32: Int32] {
        pipes.filter { !$0.value.waiting.isEmpty }.mapValues(\.write)
    }

    /// The ends that the second thread has to close.
    mutating func takeDead() -> [Int32] {
        defer { dead = [] }
        return dead
    }

    /// Closes all.
    mutating func closeAll() {
        for (read, pipe) in pipes {
            Descriptor.close(read)
            Descriptor.close(pipe.write)
        }
        for write in dead { Descriptor.close(write) }
        pipes = [:]
        dead = []
    }

    private static func bytes(_ token: NotifyToken) -> [UInt8] {
        withUnsafeBytes(of: token.bigEndian) { Array($0) }
    }
}
