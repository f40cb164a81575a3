internal import CLinux

/// Room for several packets that one system call receives.
///
/// One thread owns it. Memory that no packet has filled costs nothing.
public struct PacketBatch: ~Copyable {
    /// Packets of one call at the most.
    public static let countMax = 16

    private let room: UnsafeMutableRawBufferPointer
    private let stride: Int
    private let count: Int
    private var lengths: [Int32]

    /// Room for `count` packets (1 to 16) of `bytes` each.
    public init(count: Int, bytes: Int) {
        self.count = min(max(1, count), Self.countMax)
        stride = bytes
        room = .allocate(byteCount: self.count * bytes, alignment: 4096)
        lengths = [Int32](repeating: 0, count: self.count)
    }

    deinit {
        room.deallocate()
    }

    /// Receives the packets that wait, `most` at the most and as many as there is room for, and
    /// does not wait itself.
    ///
    /// - Returns: how many came, at least one. A packet of 0 bytes is the end of the connection.
    /// - Throws: `wouldBlock` where none waits.
    public mutating func receive(
        from socket: borrowing PacketSocket,
        most: Int = PacketBatch.countMax
    ) throws(SystemError) -> Int {
        let came = clinux_receive_many(
            socket.descriptor,
            room.baseAddress,
            stride,
            Int32(min(count, max(1, most))),
            &lengths
        )
        if came < 0 { throw SystemError("receive") }
        return Int(came)
    }

    /// The bytes of one packet of the last `receive`; nil for one that was longer than its room.
    public func packet(_ index: Int) -> UnsafeRawBufferPointer? {
        guard index < count, lengths[index] >= 0 else { return nil }
        let start = index * stride
        return UnsafeRawBufferPointer(rebasing: room[start..<start + Int(lengths[index])])
    }
}
