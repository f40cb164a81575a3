internal import Glibc

/// The number of this process.
enum ProcessNumber {
    static var own: Int32 { getpid() }
}

/// Reading at a place of an open file.
enum Positioned {
    /// Fills `buffer` from `offset`; false if the file ends before.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8], at offset: Int) -> Bool {
        let count = buffer.count
        return buffer.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress, count, off_t(offset)) == count
        }
    }
}
