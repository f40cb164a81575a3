import Glibc
import LinuxIO

/// Which of the changes that were not synced have reached the disk when the power went.
enum PowerCut: Hashable, CustomStringConvertible {
    /// All: no power cut.
    case killed
    /// None.
    case synced
    /// All bytes, no name.
    case bytes
    /// All names, no byte.
    case names
    /// Of each file and folder the later half.
    case late
    /// All but the last write, of which half is there.
    case torn
    /// Each file and folder all or nothing, by lot.
    case some(UInt64)
    /// Each 512 bytes and each name, by lot.
    case parts(UInt64)

    static let all: [PowerCut] =
        [.synced, .bytes, .names, .late, .torn]
        + (1...lots).flatMap { [.some($0), .parts($0)] }

    /// How many lots are drawn at each call; more in a long run.
    private static let lots = Environment["INTEL_POWER_LOTS"].flatMap { UInt64($0) } ?? 1

    var description: String {
        switch self {
        case .killed: "nothing"
        case .synced: "only what was synced"
        case .bytes: "bytes, no names"
        case .names: "names, no bytes"
        case .late: "the later half"
        case .torn: "the last write half done"
        case .some(let seed): "some files, by lot \(seed)"
        case .parts(let seed): "parts, by lot \(seed)"
        }
    }
}

/// The files that are there after a power cut, ready to be written to a real folder.
struct PowerRemains {
    private var files: [(path: String, content: PowerDisk.Content)] = []
    private var folders: [String] = []
    /// Tells two outcomes apart.
    private(set) var fingerprint = 0

    /// What `disk` has after `cut`; lots are drawn from the cut's seed and `number`.
    init(_ disk: PowerDisk, _ cut: PowerCut, number: Int) {
        var lots = Lots(cut, number)
        add(disk.root, "", &lots)
        var hasher = Hasher()
        for file in files {
            hasher.combine(file.path)
            hasher.combine(file.content.size)
            file.content.bytes.withUnsafeBytes { hasher.combine(bytes: Self.trimmed($0)) }
        }
        hasher.combine(folders)
        fingerprint = hasher.finalize()
    }

    private mutating func add(_ folder: PowerDisk.Folder, _ path: String, _ lots: inout Lots) {
        lots.turn(to: folder.pending.count)
        var names = folder.durable
        for (index, renaming) in folder.pending.enumerated() where lots.keeps(renaming: index) {
            for (name, node) in renaming.names { names[name] = node }
        }
        for (name, node) in names.sorted(by: { $0.key < $1.key }) {
            let inside = path + "/" + name
            switch node {
            case .folder(let folder):
                folders.append(inside)
                add(folder, inside, &lots)
            case .file(let file):
                lots.turn(to: file.pending.count)
                var content = file.durable
                if lots.keepsAllBytes {
                    content = file.live
                } else {
                    for (index, change) in file.pending.enumerated() {
                        guard lots.keeps(change: index) else { continue }
                        content.apply(change) { lots.keeps(sector: $0, of: index) }
                    }
                }
                files.append((inside, content))
            }
        }
    }

    /// The bytes without the zeros at the end.
    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = bytes.count
        while end >= 8, bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 {
            end -= 8
        }
        while end > 0, bytes[end - 1] == 0 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }

    /// Writes all of it below `root`.
    func write(to root: String) throws {
        for folder in folders { try Files.makeFolder(root + folder) }
        for file in files {
            let made = try Files.create(root + file.path, mode: 0o640)
            try Descriptor.write(made.raw, file.content.bytes)
            if file.content.size > file.content.bytes.count {
                guard ftruncate(made.raw, off_t(file.content.size)) == 0 else {
                    throw PowerDisk.Unknown(what: "size of \(file.path)")
                }
            }
        }
    }
}

/// Draws which changes are kept.
private struct Lots {
    private let cut: PowerCut
    private var dice: Dice
    private var count = 0
    private var isKept = false

    init(_ cut: PowerCut, _ number: Int) {
        self.cut = cut
        let seed: UInt64 =
            switch cut {
            case .some(let seed), .parts(let seed): seed
            default: 0
            }
        dice = Dice(state: seed &* 1_000_003 &+ UInt64(number))
    }

    /// Comes to the next file or folder, which has `count` changes.
    mutating func turn(to count: Int) {
        self.count = count
        isKept = Bool.random(using: &dice)
    }

    var keepsAllBytes: Bool { cut == .killed || cut == .bytes }

    mutating func keeps(renaming index: Int) -> Bool {
        switch cut {
        case .killed, .names, .torn: true
        case .synced, .bytes: false
        case .late: index >= count / 2
        case .some: isKept
        case .parts: Bool.random(using: &dice)
        }
    }

    mutating func keeps(change index: Int) -> Bool {
        switch cut {
        case .killed, .bytes, .parts, .torn: true
        case .synced, .names: false
        case .late: index >= count / 2
        case .some: isKept
        }
    }

    mutating func keeps(sector: Int, of index: Int) -> Bool {
        switch cut {
        case .torn: index < count - 1 || sector % 2 == 0
        case .parts: Bool.random(using: &dice)
        default: true
        }
    }
}
