import Basics
import LinuxIO
import NotifyClient
import NotifyProtocol
import Telemetry

@testable import InternalNotification

/// A peer that claims its names by hand.
struct RawPeer {
    let client: NotifyClient
    let names: PeerNames
    let tokens: [NotifyToken]
    let epoch: UInt64

    init(
        _ bench: Bench,
        _ identifier: String,
        fingerprint: UInt32,
        epoch: UInt64 = 7,
        path: String? = nil
    ) throws {
        client = try NotifyClient(path: path ?? bench.path)
        names = ChannelNames("c").peer(fingerprint)
        self.epoch = epoch
        let identity = Identity(identifier: identifier, apikey: "").registers
        let now = Clock.system.boot()
        var claims: [(name: String, options: ClaimOptions, pool: Int)] = [
            (names.epoch, ClaimOptions(state: epoch, will: epoch), 0),
            (names.beat, ClaimOptions(state: now), 0), (names.head, ClaimOptions(), 0),
            (names.tail, ClaimOptions(state: 1), 0),
            (names.pool, ClaimOptions(), Limits.ringRegisters),
            (names.transfers, ClaimOptions(), Limits.transfersMax * 8),
            (names.identityCount, ClaimOptions(state: UInt64(identity.count)), 0),
        ]
        for (slot, word) in identity.enumerated() {
            claims.append((names.identity(slot), ClaimOptions(state: word), 0))
        }
        tokens = try client.claimAll(claims)
        try client.post("c")
    }

    func setBeat(_ value: UInt64) throws { try client.setState(tokens[1], value) }
    func setHead(_ value: UInt64) throws { try client.setState(tokens[2], value) }
    func setTail(_ value: UInt64) throws { try client.setState(tokens[3], value) }

    /// One transfer with these numbers in its descriptor.
    func write(
        _ json: String,
        first: UInt64,
        last: UInt64,
        sent: UInt64,
        number: UInt64 = 1,
        isOldest: Bool = false
    ) throws {
        let packed = try Packer().pack(Array(json.utf8))
        let words = Registers.pack(packed)
        var batch = NotifyBatch()
        let offset = Int(number - 1) * 64 % (Limits.ringRegisters - 64)
        batch.poolWrite(tokens[4], at: offset, words: words)
        let descriptor: [UInt64] = [
            number, UInt64(offset << 32 | words.count),
            UInt64(json.utf8.count) << 32 | UInt64(packed.count),
            UInt64(Checksum.crc32c(packed)) << 32 | (isOldest ? 2 : 0), first, last, sent, epoch,
        ]
        batch.poolWrite(tokens[5], at: Int(number % 64) * 8, words: descriptor)
        batch.set(tokens[2], number)
        try client.write(batch, quiet: false)
        try client.post("c.msg")
    }
}
