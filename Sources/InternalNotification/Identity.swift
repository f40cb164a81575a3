internal import Telemetry

/// Who a peer says it is: `identifier|apikey`, eight bytes a register.
///
/// The kernel's pid and uid stand beside it on the bus; a reader trusts those, not this text.
public struct Identity: Equatable, Sendable {
    /// The program, such as `com.vendor.pos`.
    public var identifier: String
    /// The vendor's public team key: an identifier, not a secret.
    public var apikey: String

    /// An identity as given.
    public init(identifier: String, apikey: String) {
        self.identifier = identifier
        self.apikey = apikey
    }

    /// Registers that hold the longest identity that is read.
    public static let slotsMax = (2 * Limits.nameBytesMax + 1 + 7) / 8

    /// The text, 8 bytes a register, first byte most significant, padded with zeros.
    public var registers: [UInt64] {
        Registers.pack(Array("\(identifier)|\(apikey)".utf8))
    }

    /// Reads registers; nil if they hold no identifier or one that is too long.
    public init?(registers: [UInt64]) {
        var bytes = Registers.unpack(registers, count: registers.count * 8)
        while bytes.last == 0 { bytes.removeLast() }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty, first.utf8.count <= Limits.nameBytesMax
        else {
            return nil
        }
        identifier = String(first)
        apikey = parts.count > 1 ? String(parts[1]) : ""
    }
}

/// Bytes in registers, as published: eight a register, the first one most significant.
enum Registers {
    static func pack(_ bytes: [UInt8]) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: (bytes.count + 7) / 8)
        bytes.withUnsafeBytes { source in
            words.withUnsafeMutableBytes { $0.copyMemory(from: source) }
        }
        for index in words.indices { words[index] = words[index].byteSwapped }
        return words
    }

    static func unpack(_ words: [UInt64], count: Int) -> [UInt8] {
        let swapped = words.map(\.byteSwapped)
        return swapped.withUnsafeBytes { Array($0.prefix(count)) }
    }
}
