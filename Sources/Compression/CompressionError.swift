/// Why bytes could not be packed or unpacked.
public enum CompressionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No memory for a context.
    case outOfMemory
    /// The bytes are no zstd frame, or are cut off or changed; the library's words.
    case damaged(String)
    /// The frame does not say how long its content is.
    case unknownSize
    /// The content would be longer than the caller allows; both in bytes.
    case tooLarge(size: UInt64, limit: Int)

    /// Lower case, no full stop.
    public var description: String {
        switch self {
        case .outOfMemory: "out of memory"
        case .damaged(let words): "damaged zstd frame: \(words)"
        case .unknownSize: "zstd frame without a content size"
        case .tooLarge(let size, let limit):
            "zstd frame of \(size) bytes where at most \(limit) are allowed"
        }
    }
}
