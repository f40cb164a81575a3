internal import Compression
internal import NotifyProtocol
internal import Telemetry

/// Packs transfers: zstd level 1, fast enough that sending is not felt.
///
/// The context is kept from call to call: making one takes ten times as long as packing a small
/// transfer with it. One thread owns it.
final class Packer {
    private let compressor: ZstdCompressor

    init() throws(NotifyStatus) {
        guard let made = try? ZstdCompressor(level: 1) else { throw .failed }
        compressor = made
    }

    /// The compressed bytes; empty only where zstd itself fails, which a reader then reports.
    func pack(_ bytes: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = []
        bytes.withUnsafeBytes { try? compressor.compress($0, appendingTo: &packed) }
        return packed
    }
}

/// Unpacks transfers; one thread owns it.
final class Unpacker {
    private let decompressor: ZstdDecompressor

    init() throws(NotifyStatus) {
        guard let made = try? ZstdDecompressor() else { throw .failed }
        decompressor = made
    }

    /// The bytes of a transfer of `size` bytes; nil if that is not what was packed.
    func unpack(_ bytes: [UInt8], size: Int) -> [UInt8]? {
        bytes.withUnsafeBytes { frame in
            let unpacked = try? decompressor.decompress(frame, limit: Limits.transferBytesMax)
            return unpacked?.count == size ? unpacked : nil
        }
    }
}
