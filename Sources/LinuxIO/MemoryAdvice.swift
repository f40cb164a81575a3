internal import Glibc

/// What the kernel is told of memory that is about to be filled.
public enum MemoryAdvice {
    /// Asks for pages of 2 MiB (madvise(2), MADV_HUGEPAGE) where 512 small ones would be made one
    /// by one.
    ///
    /// Only advice: where the kernel gives none, nothing changes. Resident memory may grow by the
    /// part of the last page that is not filled.
    ///
    /// - Parameters:
    ///   - start: of memory that the caller owns.
    ///   - count: bytes that will be written from there on.
    public static func fillsWhole(_ start: UnsafeRawPointer?, count: Int) {
        guard let start else { return }
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        let begin = (UInt(bitPattern: start) + page - 1) / page * page
        let end = (UInt(bitPattern: start) + UInt(max(0, count))) / page * page
        guard end > begin, let from = UnsafeMutableRawPointer(bitPattern: begin) else { return }
        _ = madvise(from, Int(end - begin), MADV_HUGEPAGE)
    }
}
