internal import Basics
internal import LinuxIO

/// A zone of the IANA database, from its compiled file (RFC 8536): `Europe/London`.
///
/// The explicit transitions are used; after the last one the file's footer, a POSIX rule, holds.
enum ZoneFile {
    /// Where the system keeps them.
    static let folder = "/usr/share/zoneinfo"
    /// No real one has 64 KiB.
    private static let bytesMax = 256 << 10

    /// The zone called `name`; nil if there is none, or its file makes no sense.
    static func zone(named name: String, folder: String = folder) -> Zone? {
        // A name is a path below the folder and must not lead out of it.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            guard let first = part.utf8.first, part.utf8.count <= 64 else { return false }
            return first != 0x2e && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        }
        guard isPlain, parts.count <= 4,
            let bytes = try? Files.contents(folder + "/" + name, limit: bytesMax)
        else { return nil }
        return zone(from: bytes)
    }

    /// The zone that a file's bytes describe.
    static func zone(from bytes: [UInt8]) -> Zone? {
        guard let first = Header(bytes, at: 0), first.version >= 0x32 else { return nil }
        // The second half says the same with 64-bit times.
        guard let header = Header(bytes, at: first.end(timeBytes: 4)) else { return nil }
        return transitions(bytes, header).map { table in
            let rule = PosixZone(footer(bytes, header))
            return Zone { seconds in table.offset(at: seconds, rule: rule) }
        }
    }

    private static func footer(_ bytes: [UInt8], _ header: Header) -> Substring {
        let start = header.end(timeBytes: 8) + 1
        guard start < bytes.count else { return "" }
        let line = bytes[start...].prefix { $0 != 0x0a }
        return Substring(String(decoding: line, as: UTF8.self))
    }

    private static func transitions(_ bytes: [UInt8], _ header: Header) -> TransitionTable? {
        guard header.types > 0, header.end(timeBytes: 8) <= bytes.count else { return nil }
        let types = header.start + header.times * 9
        func offset(ofType type: Int) -> Int64 {
            Int64(Int32(truncatingIfNeeded: bigEndian(bytes, at: types + type * 6, count: 4)))
        }
        var table = TransitionTable(first: offset(ofType: 0))
        for index in 0..<header.times {
            let type = Int(bytes[header.start + header.times * 8 + index])
            guard type < header.types else { return nil }
            let time = bigEndian(bytes, at: header.start + index * 8, count: 8)
            guard time > table.times.last ?? .min else { return nil }
            table.times.append(time)
            table.offsets.append(offset(ofType: type))
        }
        return table
    }

    fileprivate static func bigEndian(_ bytes: [UInt8], at offset: Int, count: Int) -> Int64 {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// When a zone's clocks changed, and to what.
private struct TransitionTable {
    /// Before the first change.
    let first: Int64
    var times: [Int64] = []
    var offsets: [Int64] = []

    init(first: Int64) {
        self.first = first
    }

    func offset(at seconds: Int64, rule: PosixZone?) -> Int64 {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if low == times.count, let rule { return rule.offset(at: seconds) }
        return low == 0 ? first : offsets[low - 1]
    }
}

/// The counts at the head of each half of the file.
private struct Header {
    let version: UInt8
    /// Where the half's data begin.
    let start: Int
    let times: Int
    let types: Int
    private let rest: (leaps: Int, letters: Int, standard: Int, universal: Int)

    init?(_ bytes: [UInt8], at offset: Int) {
        guard offset + 44 <= bytes.count,
            bytes[offset..<offset + 4].elementsEqual("TZif".utf8)
        else { return nil }
        let counts = (0..<6).map { index in
            Int(ZoneFile.bigEndian(bytes, at: offset + 20 + index * 4, count: 4))
        }
        // Larger counts than the file has bytes: no need to compute with them.
        guard counts.allSatisfy({ $0 <= bytes.count }) else { return nil }
        version = bytes[offset + 4]
        start = offset + 44
        times = counts[3]
        types = counts[4]
        rest = (counts[2], counts[5], counts[1], counts[0])
    }

    /// Where the half ends, if its times have so many bytes.
    func end(timeBytes: Int) -> Int {
        start + times * (timeBytes + 1) + types * 6 + rest.letters + rest.leaps * (timeBytes + 4)
            + rest.standard + rest.universal
    }
}
