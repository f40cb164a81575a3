internal import Glibc

/// The C library's searches through memory, which use the widest registers the machine has.
public enum MemorySearch {
    /// The first `byte` in the `count` bytes from `start`; nil if there is none.
    public static func first(_ byte: UInt8, in start: UnsafeRawPointer, count: Int)
        -> UnsafeRawPointer?
    {
        memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) }
    }

    /// True if both hold the same bytes.
    public static func isEqual(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer
    ) -> Bool {
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return isEqual(first, second, count: left.count)
    }

    /// True if `count` bytes are the same in both places.
    public static func isEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int)
        -> Bool
    {
        memcmp(left, right, count) == 0
    }
}
