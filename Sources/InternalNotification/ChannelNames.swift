internal import Basics

/// Names on the bus of one channel (the table of docs/internal-notification.md).
public struct ChannelNames: Sendable, Equatable {
    /// The channel that siblings share.
    public let channel: String

    /// The names of `channel`.
    public init(_ channel: String) {
        self.channel = channel
    }

    /// The signal: somebody has a new transfer.
    public var signal: String { "\(channel).msg" }
    /// Claimed by the collector; its state tells which session of which collector, 0 for none.
    public var collector: String { "\(channel).collector" }
    /// What every peer's names begin with.
    public var prefix: String { "\(channel)." }

    /// The names of the peer with this fingerprint.
    public func peer(_ fingerprint: UInt32) -> PeerNames {
        PeerNames(base: "\(channel).\(fingerprint.hexadecimal)")
    }

    /// The fingerprint in a name of the form `CHANNEL.FFFFFFFF.epoch`; nil for any other name.
    public func fingerprint(ofEpochName name: String) -> UInt32? {
        guard name.hasPrefix(prefix), name.hasSuffix(PeerNames.epochSuffix) else { return nil }
        let digits = name.dropFirst(prefix.count).dropLast(PeerNames.epochSuffix.count)
        return digits.count == 8 ? UInt32(digits, radix: 16) : nil
    }

    /// CRC-32 of the identifier; of `identifier#2`, `#3` … for the second, third … live instance.
    public static func fingerprint(of identifier: String, attempt: Int) -> UInt32 {
        Checksum.crc32(attempt <= 1 ? identifier : "\(identifier)#\(attempt)")
    }
}

/// Names of one peer: `CHANNEL.FFFFFFFF` and what follows.
public struct PeerNames: Sendable, Equatable {
    /// `CHANNEL.FFFFFFFF`.
    public let base: String

    /// How the name of the epoch register ends; it is how peers are found.
    public static let epochSuffix = ".epoch"
    /// How the name of the heartbeat's register ends.
    public static let beatSuffix = ".beat"

    /// Start time of the instance, ns; carries the will.
    public var epoch: String { base + Self.epochSuffix }
    /// When it last pinged, CLOCK_BOOTTIME ns: liveness without counting merged posts.
    public var beat: String { base + Self.beatSuffix }
    /// Number of identity slots.
    public var identityCount: String { base + ".count" }
    /// One slot of the identity, 8 bytes.
    public func identity(_ slot: Int) -> String { "\(base).\(slot)" }
    /// Chunk count of the latest transfer.
    public var messageCount: String { base + ".msg.count" }
    /// Size before compression of the latest transfer.
    public var messageSize: String { base + ".msg.size" }
    /// Size after compression of the latest transfer.
    public var messageCompressedSize: String { base + ".msg.csize" }
    /// The ring of bytes.
    public var pool: String { base + ".pool" }
    /// The descriptors.
    public var transfers: String { base + ".transfers" }
    /// Number of the last complete transfer.
    public var head: String { base + ".head" }
    /// Number of the oldest transfer that is not overwritten.
    public var tail: String { base + ".tail" }
    /// Last transfer of the run `epoch` that the collector has copied out.
    public func taken(by collector: UInt32, of epoch: UInt64) -> String {
        "\(base).taken.\(collector.hexadecimal).\(epoch)"
    }
    /// Up to which sequence number of the run `epoch` the collector has committed.
    ///
    /// The run is part of the name, so that no run is ever told what another one has stored.
    public func stored(by collector: UInt32, of epoch: UInt64) -> String {
        "\(base).stored.\(collector.hexadecimal).\(epoch)"
    }
}
