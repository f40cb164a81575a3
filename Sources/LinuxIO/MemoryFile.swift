internal import CLinux
internal import Glibc
public import Synchronization

/// A memory file (memfd) that its maker alone can write: the kernel refuses everybody else.
///
/// The maker maps it once, writable, and seals it; after that no new writable mapping, no write(2)
/// and no re-opening through /proc gives write access (`F_SEAL_FUTURE_WRITE`, Linux 5.1).
public struct SealedMemory: ~Copyable {
    /// The descriptor that others map read-only.
    public let file: FileDescriptor
    /// The only writable mapping there will ever be; pages cost memory when first touched.
    public let bytes: UnsafeMutableRawBufferPointer

    /// Makes a file of `size` zero bytes (sparse), maps it and seals it.
    public init(name: String, size: Int) throws(SystemError) {
        let raw = clinux_memfd(name)
        guard raw >= 0 else { throw SystemError("memfd_create", name) }
        let made = FileDescriptor(owning: raw)
        guard ftruncate(raw, size) == 0 else { throw SystemError("size memory file", name) }
        let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, raw, 0)
        guard let base, base != MAP_FAILED else { throw SystemError("map memory file", name) }
        guard clinux_seal_future_write(raw) == 0 else {
            let failure = SystemError("seal memory file", name)
            munmap(base, size)
            throw failure
        }
        file = made
        bytes = UnsafeMutableRawBufferPointer(start: base, count: size)
    }

    deinit {
        munmap(bytes.baseAddress, bytes.count)
    }

    /// Zeroes a range, which must lie inside the file.
    ///
    /// Its pages stay: a hole cannot be punched in a sealed file.
    public func clear(_ range: Range<Int>) {
        UnsafeMutableRawBufferPointer(rebasing: bytes[range]).initializeMemory(
            as: UInt8.self,
            repeating: 0
        )
    }
}

/// A read-only view of a `SealedMemory` file in another process, at one address for its whole life.
///
/// `map` puts another file under the same address, so that readers never hold a dead pointer.
public final class MemoryView: Sendable {
    /// Length in bytes of the view.
    public let size: Int
    private let address: UInt

    /// Reserves address room; reads of it give zeros until `map`.
    public init(size: Int) throws(SystemError) {
        let base = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let base, base != MAP_FAILED else { throw SystemError("reserve memory view") }
        self.size = size
        address = UInt(bitPattern: base)
    }

    deinit {
        munmap(UnsafeMutableRawPointer(bitPattern: address), size)
    }

    /// Puts the file under the view.
    ///
    /// It must be at least as long as the view.
    public func map(_ descriptor: Int32) throws(SystemError) {
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_size >= size else {
            throw SystemError("map memory file", "", code: EINVAL)
        }
        let start = UnsafeMutableRawPointer(bitPattern: address)
        let base = mmap(start, size, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, 0)
        guard base == start else { throw SystemError("map memory file") }
    }

    /// The word at `offset` bytes, which must lie inside the view and be a multiple of 8.
    @inline(__always)
    public func load(_ offset: Int) -> UInt64 {
        SharedWords.load(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped + offset)
    }

    /// The bytes themselves, valid as long as the view lives.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: size)
    }
}

/// 64-bit words that one process writes and others read at the same time.
public enum SharedWords {
    /// Reads a word; everything stored before it was stored is visible after.
    @inlinable @inline(__always)
    public static func load(_ address: UnsafeRawPointer) -> UInt64 {
        address.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    }

    /// Reads a word of 32 bits, at whatever moment.
    @inlinable @inline(__always)
    public static func load32(_ address: UnsafeRawPointer) -> UInt32 {
        address.assumingMemoryBound(to: Atomic<UInt32>.self).pointee.load(ordering: .relaxed)
    }

    /// Writes a word, after everything that was written before.
    @inlinable @inline(__always)
    public static func store(_ value: UInt64, at address: UnsafeMutableRawPointer) {
        address.assumingMemoryBound(to: Atomic<UInt64>.self).pointee
            .store(value, ordering: .releasing)
    }

    /// Keeps reads and writes on their side of this point.
    @inlinable @inline(__always)
    public static func fence() {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
}
