internal import CLinux
internal import Glibc

/// A fixed number of 64-bit words that any thread reads and writes without a lock.
///
/// Words start as 0 and cost memory only once their page is written.
public final class WordTable: Sendable {
    /// How many words there are.
    public let count: Int
    /// Where the words lie, as long as the table lives; for `SharedWords`, where every ns counts.
    public let address: UInt

    /// A table of `count` zero words.
    public init(count: Int) throws(SystemError) {
        let protection = PROT_READ | PROT_WRITE
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let base = mmap(nil, count * 8, protection, flags, -1, 0)
        guard let base, base != MAP_FAILED else { throw SystemError("reserve word table") }
        self.count = count
        address = UInt(bitPattern: base)
    }

    deinit {
        munmap(UnsafeMutableRawPointer(bitPattern: address), count * 8)
    }

    /// The word at `index`, which must be below `count`.
    @inlinable @inline(__always)
    public subscript(index: Int) -> UInt64 {
        get {
            SharedWords.load(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped + index * 8)
        }
        set {
            let base = UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
            SharedWords.store(newValue, at: base + index * 8)
        }
    }
}
