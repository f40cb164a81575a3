internal import Basics
internal import Glibc

/// How full a file system is.
struct FileSystemSpace {
    private let path: String
    private let total: UInt64
    private let available: UInt64
    private let inodes: UInt64
    private let freeInodes: UInt64

    /// Asks the kernel; nil if it does not tell.
    init?(mountedAt path: String) {
        var info = statvfs()
        guard statvfs(path, &info) == 0, info.f_blocks > 0 else { return nil }
        self.path = path
        let block = UInt64(info.f_frsize)
        total = UInt64(info.f_blocks) &* block
        available = UInt64(info.f_bavail) &* block
        inodes = UInt64(info.f_files)
        freeInodes = UInt64(info.f_favail)
    }

    /// One element of `filesystems`.
    func json(type: String) -> [UInt8] {
        var object = ObjectWriter()
        object.add("path", path)
        object.add("type", type)
        object.add("total", total)
        object.add("available", available)
        object.add("inodes", inodes)
        object.add("free_inodes", freeInodes)
        return object.finished
    }
}

/// Paths in /proc/self/mounts have blanks and the like as octal escapes: `\040`.
enum MountPath {
    static func decoded(_ text: Substring) -> String {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = byte == UInt8(ascii: "\\") && digits.count == 3
            if isEscape, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                let value = digits.reduce(UInt32(0)) { $0 << 3 | UInt32($1 & 7) }
                out.append(UInt8(truncatingIfNeeded: value))
                rest = rest.dropFirst(3)
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
