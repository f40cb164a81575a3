internal import Compression
internal import Telemetry

/// How transfers are compressed: zstd level 1, fast enough that sending is not felt.
enum Packing {
    /// The compressed bytes; empty only where zstd itself fails, which a reader then reports.
    static func pack(_ bytes: [UInt8]) -> [UInt8] {
        var packed: [UInt8] = []
        guard let compressor = try? ZstdCompressor(level: 1) else { return packed }
        bytes.withUnsafeBytes { try? compressor.compress($0, appendingTo: &packed) }
        return packed
    }

    /// The bytes of a transfer of `size` bytes; nil if that is not what was packed.
    static func unpack(_ bytes: [UInt8], size: Int) -> [UInt8]? {
        guard let decompressor = try? ZstdDecompressor() else { return nil }
        return bytes.withUnsafeBytes { frame in
            let unpacked = try? decompressor.decompress(frame, limit: Limits.transferBytesMax)
            return unpacked?.count == size ? unpacked : nil
        }
    }
}
