import LinuxIO

/// What a program did to the files of a folder, call by call; see Tests/PowerLayer, which wrote it.
struct PowerTrace {
    enum Call: Equatable {
        /// A file or folder that was there got this number.
        case open(node: UInt64, path: String)
        case make(node: UInt64, path: String)
        case write(node: UInt64, offset: Int, data: [UInt8])
        case cut(node: UInt64, size: Int)
        case reserve(node: UInt64, size: Int)
        case sync(node: UInt64)
        case rename(from: String, to: String)
        case link(from: String, to: String)
        case unlink(path: String)
        case makeFolder(path: String)
        case removeFolder(path: String)
        /// Words that the world has heard.
        case say([String])

        /// What it is, without its data.
        var name: String {
            switch self {
            case .write(let node, let offset, let data):
                "write of \(data.count) to \(node) at \(offset)"
            default: "\(self)"
            }
        }

        /// True if it adds to what is not on the disk, so that a power cut after it can do all that
        /// one before it can.
        var isWrite: Bool {
            switch self {
            case .open, .make, .write, .cut, .reserve, .makeFolder: true
            default: false
            }
        }
    }

    struct Damaged: Error {}

    private(set) var calls: [Call] = []

    init(_ path: String) throws {
        let bytes = try Files.contents(path, limit: 1 << 30)
        var place = 0
        func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard count >= 0, count <= bytes.count - place else { throw Damaged() }
            defer { place += count }
            return bytes[place..<place + count]
        }
        func number() throws -> UInt64 {
            try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        while place < bytes.count {
            let (kind, node, offset) = (try number(), try number(), Int(try number()))
            let lengths = try (0..<3).map { _ in Int(try number()) }
            let path = String(decoding: try take(lengths[0]), as: UTF8.self)
            let other = String(decoding: try take(lengths[1]), as: UTF8.self)
            let data = Array(try take(lengths[2]))
            calls.append(try Self.call(kind, node, offset, path, other, data))
        }
    }

    private static func call(
        _ kind: UInt64,
        _ node: UInt64,
        _ offset: Int,
        _ path: String,
        _ other: String,
        _ data: [UInt8]
    ) throws -> Call {
        switch kind {
        case 1: .open(node: node, path: path)
        case 2: .make(node: node, path: path)
        case 3: .write(node: node, offset: offset, data: data)
        case 4: .cut(node: node, size: offset)
        case 5: .reserve(node: node, size: offset)
        case 6: .sync(node: node)
        case 7: .rename(from: path, to: other)
        case 8: .link(from: path, to: other)
        case 9: .unlink(path: path)
        case 10: .makeFolder(path: path)
        case 11: .removeFolder(path: path)
        case 12:
            .say(String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
        default: throw Damaged()
        }
    }
}
