import Glibc

/// The checkout that this test was compiled from, read with plain calls.
enum SourceTree {
    /// Its root: two folders above this file's own.
    static let root: String = {
        let parts = #filePath.split(separator: "/")
        return "/" + parts.dropLast(3).joined(separator: "/")
    }()

    /// All that we wrote in Swift and C.
    static let files: [SourceText] = {
        let found = ["Sources", "Tests", "Benchmarks", "Fuzz"].flatMap(paths) + ["Package.swift"]
        return found.compactMap { path in
            let ends = [".swift", ".c", ".h"]
            guard ends.contains(where: path.hasSuffix), let text = read(path) else { return nil }
            return SourceText(path: path, text: text)
        }
    }()

    /// Names in a folder of the checkout, sorted, hidden ones left out.
    static func names(_ path: String) -> [String] {
        guard let folder = opendir(root + "/" + path) else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { found.append(name) }
        }
        return found.sorted()
    }

    static func exists(_ path: String) -> Bool {
        access(root + "/" + path, F_OK) == 0
    }

    static func read(_ path: String) -> String? {
        guard let file = fopen(root + "/" + path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func paths(_ path: String) -> [String] {
        let inside = names(path)
        return inside.isEmpty ? [path] : inside.flatMap { paths(path + "/" + $0) }
    }
}
