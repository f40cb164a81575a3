internal import CLinux
internal import Glibc

/// The kernel's word on the process at the other end of a socket, as of its connect.
public struct Credentials: Equatable, Hashable, Sendable {
    /// Process id.
    public var pid: Int32
    /// Effective user id.
    public var uid: UInt32
    /// Effective group id.
    public var gid: UInt32

    /// Credentials as given.
    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

/// A Unix socket that keeps packet bounds (SOCK_SEQPACKET): one send is one receive, in order.
public struct PacketSocket: ~Copyable, Sendable {
    /// What one `receive` brought.
    public struct Packet {
        /// Bytes written to the buffer; 0 is the end of the connection.
        public var count: Int
        /// Descriptors that came along; the caller owns them.
        public var descriptors: [Int32]
        /// True if the packet was longer than the buffer and was cut.
        public var isTruncated: Bool
    }

    private let file: FileDescriptor

    private init(owning raw: Int32) {
        file = FileDescriptor(owning: raw)
    }

    /// The descriptor number, for a `Poller`.
    public var descriptor: Int32 { file.raw }

    /// Connects to the socket at `path`.
    ///
    /// Does not wait: a listener whose queue is full fails it with `wouldBlock`.
    public static func connect(to path: String) throws(SystemError) -> PacketSocket {
        let made = PacketSocket(owning: try newSocket("connect", path))
        _ = fcntl(made.file.raw, F_SETFL, O_NONBLOCK)
        let result = try withAddress("connect", path) { address, size in
            Glibc.connect(made.file.raw, address, size)
        }
        guard result == 0 else { throw SystemError("connect", path) }
        _ = fcntl(made.file.raw, F_SETFL, 0)
        return made
    }

    /// Listens at `path`.
    ///
    /// What is there from an earlier, dead process must be removed before.
    public static func listen(at path: String, mode: UInt32, backlog: Int32 = 512)
        throws(SystemError) -> PacketSocket
    {
        let made = PacketSocket(owning: try newSocket("listen", path))
        let result = try withAddress("listen", path) { address, size in
            bind(made.file.raw, address, size)
        }
        guard result == 0 else { throw SystemError("listen", path) }
        chmod(path, mode)
        guard Glibc.listen(made.file.raw, backlog) == 0 else { throw SystemError("listen", path) }
        _ = fcntl(made.file.raw, F_SETFL, O_NONBLOCK)
        return made
    }

    /// The next connection that waits, non-blocking; nil if none waits.
    public func accept() throws(SystemError) -> PacketSocket? {
        let raw = clinux_accept(file.raw)
        if raw >= 0 { return PacketSocket(owning: raw) }
        if errno == EAGAIN || errno == ECONNABORTED { return nil }
        throw SystemError("accept")
    }

    /// Who connected, or who listened at the other end when this end connected.
    public func peerCredentials() throws(SystemError) -> Credentials {
        var found = clinux_credentials()
        guard clinux_peer_credentials(file.raw, &found) == 0 else {
            throw SystemError("peer credentials")
        }
        return Credentials(pid: found.pid, uid: found.uid, gid: found.gid)
    }

    /// The supplementary groups of who connected; none where the kernel does not say.
    public func peerGroups() -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 64)
        var count = Int(clinux_peer_groups(file.raw, &groups, Int32(groups.count)))
        if count > groups.count {
            groups = [UInt32](repeating: 0, count: count)
            count = Int(clinux_peer_groups(file.raw, &groups, Int32(groups.count)))
        }
        return Array(groups.prefix(max(0, count)))
    }

    /// Takes over a socket that listens already, such as one that systemd has opened.
    ///
    /// - Throws: EINVAL if it is no listening Unix socket that keeps packet bounds.
    public static func adopt(listener raw: Int32) throws(SystemError) -> PacketSocket {
        guard clinux_is_packet_listener(raw) == 1 else {
            throw SystemError("adopt listening socket", "\(raw)", code: EINVAL)
        }
        _ = fcntl(raw, F_SETFL, O_NONBLOCK)
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        return PacketSocket(owning: raw)
    }

    /// Receives one packet.
    ///
    /// Without `waiting` it fails with `wouldBlock` where there is none.
    public func receive(
        into buffer: UnsafeMutableRawBufferPointer,
        waiting: Bool = false
    ) throws(SystemError) -> Packet {
        // On the stack: nearly every packet comes without descriptors.
        var descriptors: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        var came: Int32 = 4
        var truncated: Int32 = 0
        let count = withUnsafeMutableBytes(of: &descriptors) { room in
            clinux_receive(
                file.raw,
                buffer.baseAddress,
                buffer.count,
                room.baseAddress?.assumingMemoryBound(to: Int32.self),
                &came,
                &truncated,
                waiting ? 1 : 0
            )
        }
        if count < 0 { throw SystemError("receive") }
        let (a, b, c, d) = descriptors
        return Packet(
            count: count,
            descriptors: came == 0 ? [] : Array([a, b, c, d].prefix(Int(came))),
            isTruncated: truncated != 0
        )
    }

    /// Sends one packet.
    ///
    /// Without `waiting` it fails with `wouldBlock` where there is no room.
    public func send(_ bytes: [UInt8], descriptors: [Int32] = [], waiting: Bool = false)
        throws(SystemError)
    {
        let sent = bytes.withUnsafeBytes { buffer in
            clinux_send(
                file.raw,
                buffer.baseAddress,
                buffer.count,
                descriptors,
                Int32(descriptors.count),
                waiting ? 1 : 0
            )
        }
        if sent < 0 { throw SystemError("send") }
    }

    /// Receives one packet into an array whose length is the room.
    public func receive(into buffer: inout [UInt8], waiting: Bool = false) throws(SystemError)
        -> Packet
    {
        let result = buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in try receive(into: bytes, waiting: waiting) }
        }
        return try result.get()
    }

    /// Ends the connection in both directions; a thread that waits in `receive` comes back.
    public func shutDown() {
        shutdown(file.raw, Int32(SHUT_RDWR))
    }

    /// Waits up to `milliseconds` for room to send; false if there is none by then.
    public func waitWritable(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: file.raw, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private static func newSocket(_ operation: String, _ path: String) throws(SystemError) -> Int32
    {
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let raw = socket(AF_UNIX, type, 0)
        guard raw >= 0 else { throw SystemError(operation, path) }
        return raw
    }

    private static func withAddress(
        _ operation: String,
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        // A longer path is reached through an open descriptor of its folder.
        var folder: Int32 = -1
        defer { if folder >= 0 { Descriptor.close(folder) } }
        if bytes.count >= room {
            folder = try Files.openToRead(Files.parent(of: path)).take()
            bytes = Array("/proc/self/fd/\(folder)/\(Files.name(of: path))".utf8)
        }
        guard bytes.count < room else { throw SystemError(operation, path, code: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
