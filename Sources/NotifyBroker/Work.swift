/// What things cost the broker, in units of about 100 ns: what turns are measured in.
///
/// Counted, not timed: a clock read for each operation would cost as much as the operation, and a
/// test could not tell what to expect.
enum Work {
    /// What one connection may have done before the others get their turn: about 25 us, half of a
    /// round trip over the bus.
    static let turn = 256
    /// Receiving a frame and sending its answer.
    static let frame = 8
    /// A set, a post to nobody, a look at one name of a listing.
    static let least = 1
    /// Reading an operation with a name in it, to see that it is whole.
    static let text = 3
    /// So many subscribers are told of a post at the cost of a unit.
    static let subscribersPerUnit = 4
    /// So many bytes are copied at the cost of a unit.
    static let bytesPerUnit = 1024
    /// Making a registration, or ending one, each with its name.
    static let registration = 16
    /// Making a memory file.
    static let memoryFile = 512
    /// Writing one entry of a listing.
    static let entry = 2
    /// So many connections are looked at for a listing at the cost of a unit.
    static let connectionsPerUnit = 16
    /// Registrations of an ended connection that go in one step.
    static let endsAtOnce = 16
    /// An ended connection with more registrations does its wills in whatever order.
    static let sortedMax = 512
    /// Bytes of frames, of all connections, that may wait to be done further.
    ///
    /// Beyond, a frame is done whole, and the others wait. A frame has 64 KiB at the most.
    static let unfinishedBytesMax = 8 << 20
}
