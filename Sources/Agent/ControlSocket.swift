public import LinuxIO

/// Where `intel status` asks a running agent: connecting is the question, one packet with a JSON
/// object is the answer.
///
/// Nothing is read from whoever connects and nothing waits for them, so nobody can hold the agent
/// up. The socket lies in the spool folder, open to those who may read the spool. The thread that
/// made it owns it.
final class ControlSocket {
    /// Who connected at once gets an answer in this turn; the rest waits in the backlog.
    private static let answersPerTurn = 16

    private let path: String
    private let listener: PacketSocket

    /// Listens in the spool folder, whose lock the agent holds: what lies there is a dead agent's.
    init(spool: String) throws(SystemError) {
        path = AgentSocket.path(spool: spool)
        try Files.remove(path)
        listener = try PacketSocket.listen(at: path, mode: 0o660)
    }

    /// Readable while somebody asks; for a `Poller`.
    var descriptor: Int32 { listener.descriptor }

    /// Answers whoever has asked.
    func answer(_ text: [UInt8]) {
        for _ in 0..<Self.answersPerTurn {
            guard let socket = try? listener.accept() else { return }
            try? socket.send(text)
        }
    }

    /// Removes the socket file; while the lock is still held, or it might be the next agent's.
    func close() {
        try? Files.remove(path)
    }
}

/// The asking side of the agent's control socket.
public enum AgentSocket {
    /// How long `ask` waits for the answer, in milliseconds.
    public static let timeout: Int32 = 2000
    private static let answerBytesMax = 64 << 10

    static func path(spool: String) -> String { spool + "/agent.sock" }

    /// The JSON object with which the agent of this spool tells of itself.
    ///
    /// Blocks for `timeout` at the most.
    ///
    /// - Throws: where nobody listens, this user may not ask, or no answer comes (ETIMEDOUT).
    public static func ask(spool: String) throws(SystemError) -> [UInt8] {
        let path = path(spool: spool)
        let socket = try PacketSocket.connect(to: path)
        Descriptor.wait(readable: socket.descriptor, milliseconds: timeout)
        var buffer = [UInt8](repeating: 0, count: answerBytesMax)
        do throws(SystemError) {
            let packet = try socket.receive(into: &buffer)
            return Array(buffer[..<packet.count])
        } catch {
            throw error.wouldBlock ? SystemError.timedOut("ask", path) : error
        }
    }
}
