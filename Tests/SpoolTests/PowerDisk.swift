import Glibc
import LinuxIO

/// A disk that knows what is on it for good, and what a power cut may still take.
///
/// It is stricter than any file system in use. A file's bytes are on it when the file was synced,
/// its name when its folder was. What was not synced may be there or not, each part for itself:
/// each 512 bytes of a write, each name. A name that is taken over by a rename is the old file's or
/// the new one's.
final class PowerDisk {
    /// What a change of a file does.
    enum Change {
        case write(offset: Int, data: [UInt8])
        case cut(size: Int)
        case reserve(size: Int)
    }

    /// A file's bytes; what is between the last of them and `size` is zeros.
    struct Content {
        var bytes: [UInt8] = []
        var size = 0
    }

    final class File {
        fileprivate(set) var live = Content()
        fileprivate(set) var durable = Content()
        fileprivate(set) var pending: [Change] = []
    }

    /// Names that change at once.
    struct Renaming {
        var names: [(name: String, node: Node?)]
    }

    final class Folder {
        fileprivate(set) var live: [String: Node] = [:]
        fileprivate(set) var durable: [String: Node] = [:]
        fileprivate(set) var pending: [Renaming] = []

        fileprivate func change(_ names: [(name: String, node: Node?)]) {
            for (name, node) in names { live[name] = node }
            pending.append(Renaming(names: names))
        }
    }

    enum Node {
        case file(File)
        case folder(Folder)
    }

    struct Unknown: Error {
        let what: String
    }

    let root: Folder
    private var path: String
    private var nodes: [UInt64: Node] = [:]

    /// A disk with what the folder `source` has now, all of it there for good, as folder `path`.
    init(_ path: String, from source: String? = nil) throws {
        self.path = path
        root = try Self.load(source ?? path)
    }

    /// Gives the folder another path: what comes next is done by another process, elsewhere.
    func move(to path: String) {
        self.path = path
        nodes = [:]
    }

    private static func load(_ path: String) throws -> Folder {
        let folder = Folder()
        for name in Files.names(in: path) where !name.hasSuffix("-shm") {
            let child = path + "/" + name
            var info = stat()
            if stat(child, &info) == 0, info.st_mode & S_IFMT == S_IFDIR {
                folder.live[name] = .folder(try load(child))
            } else {
                let file = File()
                let bytes = try Files.contents(child)
                file.live = Content(bytes: bytes, size: bytes.count)
                file.durable = file.live
                folder.live[name] = .file(file)
            }
        }
        folder.durable = folder.live
        return folder
    }

    /// Does what a call has done.
    func apply(_ call: PowerTrace.Call) throws {
        switch call {
        case .open(let node, let path):
            nodes[node] = try find(path)
        case .make(let node, let path):
            let file = Node.file(File())
            nodes[node] = file
            try change(path, to: file)
        case .write(let node, let offset, let data):
            try change(node, .write(offset: offset, data: data))
        case .cut(let node, let size):
            try change(node, .cut(size: size))
        case .reserve(let node, let size):
            try change(node, .reserve(size: size))
        case .sync(let node):
            try sync(node)
        case .rename(let from, let to):
            let node = try find(from)
            let (folder, name) = try place(to)
            let (source, old) = try place(from)
            guard folder === source else { throw Unknown(what: "rename to \(to)") }
            folder.change([(old, nil), (name, node)])
        case .link(let from, let to):
            try change(to, to: try find(from))
        case .unlink(let path), .removeFolder(let path):
            try change(path, to: nil)
        case .makeFolder(let path):
            try change(path, to: .folder(Folder()))
        case .say:
            break
        }
    }

    private func change(_ path: String, to node: Node?) throws {
        let (folder, name) = try place(path)
        folder.change([(name, node)])
    }

    private func change(_ node: UInt64, _ change: Change) throws {
        guard case .file(let file) = nodes[node] else { throw Unknown(what: "file \(node)") }
        file.live.apply(change)
        file.pending.append(change)
    }

    private func sync(_ node: UInt64) throws {
        switch nodes[node] {
        case .file(let file):
            file.durable = file.live
            file.pending = []
        case .folder(let folder):
            folder.durable = folder.live
            folder.pending = []
        case nil:
            throw Unknown(what: "sync of \(node)")
        }
    }

    /// The folder of a path, and the name in it.
    private func place(_ path: String) throws -> (Folder, String) {
        guard case .folder(let folder) = try find(Files.parent(of: path)) else {
            throw Unknown(what: path)
        }
        return (folder, Files.name(of: path))
    }

    private func find(_ path: String) throws -> Node {
        guard path.hasPrefix(self.path) else { throw Unknown(what: path) }
        var node = Node.folder(root)
        for name in path.dropFirst(self.path.count).split(separator: "/") {
            guard case .folder(let folder) = node, let next = folder.live[String(name)] else {
                throw Unknown(what: path)
            }
            node = next
        }
        return node
    }
}

extension PowerDisk.Content {
    /// Changes the bytes as a file's are changed; of a write only the parts that `survives` says.
    mutating func apply(_ change: PowerDisk.Change, survives: (Int) -> Bool = { _ in true }) {
        switch change {
        case .cut(let size):
            if size < bytes.count { bytes.removeLast(bytes.count - size) }
            self.size = size
        case .reserve(let size):
            self.size = max(self.size, size)
        case .write(let offset, let data):
            var start = 0
            while start < data.count {
                let sector = (offset + start) / PowerDisk.sector
                let end = min(data.count, (sector + 1) * PowerDisk.sector - offset)
                if survives(sector) { put(data[start..<end], at: offset + start) }
                start = end
            }
        }
    }

    private mutating func put(_ part: ArraySlice<UInt8>, at offset: Int) {
        let end = offset + part.count
        size = max(size, end)
        while bytes.count < offset {
            bytes.append(contentsOf: Self.zeros.prefix(offset - bytes.count))
        }
        if bytes.count == offset {
            bytes.append(contentsOf: part)
            return
        }
        while bytes.count < end {
            bytes.append(contentsOf: Self.zeros.prefix(end - bytes.count))
        }
        bytes.withUnsafeMutableBytes { target in
            part.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[offset..<end])
                    .copyMemory(from: source)
            }
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)
}

extension PowerDisk {
    /// What a disk writes as one.
    static let sector = 512
}
