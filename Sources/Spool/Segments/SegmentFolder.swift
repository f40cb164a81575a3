internal import LinuxIO

/// The folder of the cold tier, `seg` below the spool.
///
/// Invariants:
/// 1. A file is made under a name that ends in `.part`, and gets its own when it is whole and on
///    the disk.
/// 2. No name is given twice: it ends with the number of the last hot batch that the segment stands
///    for, and behind that with how often it was rewritten.
/// 3. A file with its own name is never changed.
struct SegmentFolder {
    let path: String

    init(spool: String) {
        path = spool + "/seg"
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// The one temporary name: there is one compaction at a time.
    var temporary: String { file("next" + Self.unfinished) }

    private static let unfinished = ".part"

    /// `<first-us>-<last-us>-<number>.db`, by the order of its records; with `.<turn>` before `.db`
    /// where it was rewritten.
    static func name(_ row: BatchRow, hi: Int64, turn: Int) -> String {
        "\(row.t0 / 1000)-\(row.t1 / 1000)-\(hi)\(turn > 0 ? ".\(turn)" : "").db"
    }

    /// How often the segment of this name was rewritten.
    static func turn(_ name: String) -> Int {
        let parts = name.split(separator: ".")
        return parts.count == 3 ? max(0, Int(parts[1]) ?? 0) : 0
    }

    /// Makes the folder where it is missing, for good.
    func make() throws(SystemError) {
        if Files.exists(path) { return }
        try Files.makeFolder(path, mode: 0o750)
        try Files.sync(Files.parent(of: path))
    }

    /// Removes what an interrupted compaction left under temporary names.
    func removeUnfinished() throws(SystemError) {
        for name in Files.names(in: path) where name.hasSuffix(Self.unfinished) {
            try Files.remove(file(name))
        }
    }

    /// Files with names of their own.
    var names: [String] {
        Files.names(in: path).filter { $0.hasSuffix(".db") }
    }
}
