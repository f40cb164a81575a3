import LinuxIO
import Testing

@Suite struct FilesTests {
    @Test func writesReadsAndRemoves() throws {
        let folder = try Temporary()
        let path = folder.path + "/a/b/c.txt"
        #expect(!Files.exists(path) && Files.size(path) == 0)
        try Files.makeFolder(Files.parent(of: path), mode: 0o700)
        try Files.makeFolder(Files.parent(of: path))
        try Files.write("first, and longer", to: path)
        try Files.write("second", to: path)
        #expect(try Files.contents(path) == Array("second".utf8))
        #expect(Files.size(path) == 6 && Files.isReadable(path))
        try Files.rename(path, to: path + ".new")
        #expect(Files.names(in: folder.path + "/a/b") == ["c.txt.new"])
        try Files.remove(path + ".new")
        try Files.remove(path + ".new")
        Files.removeTree(folder.path + "/a")
        #expect(Files.names(in: folder.path) == [])
    }

    @Test func readsLargeFilesToTheLimit() throws {
        let folder = try Temporary()
        let path = folder.path + "/large"
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try Files.create(path)
        try Descriptor.write(file.raw, bytes)
        // Compared first: a failure would spell out every byte.
        let isWhole = try Files.contents(path) == bytes
        #expect(isWhole)
        let part = try Files.contents(path, limit: 1000)
        #expect(part.count == 1000)
        #expect(bytes.starts(with: part))
    }

    @Test func readsAtAPlace() throws {
        let folder = try Temporary()
        try Files.write("0123456789", to: folder.path + "/f")
        let file = try Files.openToRead(folder.path + "/f")
        var buffer = [UInt8](repeating: 0, count: 4)
        var found: [Bool] = []
        for place in [6, 7, 10] {
            found.append(Descriptor.read(file.raw, at: place, into: &buffer))
        }
        #expect(found == [true, false, false])
        #expect(Descriptor.read(file.raw, at: 2, into: &buffer))
        #expect(buffer == Array("2345".utf8))
    }

    @Test func saysWhatIsNotThere() throws {
        let folder = try Temporary()
        let path = folder.path + "/none"
        let error = #expect(throws: SystemError.self) { _ = try Files.contents(path) }
        #expect(error?.isNotFound == true)
        #expect(error?.description == "open '\(path)': No such file or directory (errno 2)")
        #expect(throws: SystemError.self) { try Files.rename(path, to: path + "2") }
        #expect(Files.names(in: path) == [])
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/c", "a/b", "c"),
    ])
    func splitsPaths(path: String, parent: String, name: String) {
        #expect(Files.parent(of: path) == parent)
        #expect(Files.name(of: path) == name)
    }

    @Test func removesTreesButNotWhatLinksLeadTo() throws {
        let folder = try Temporary()
        try Files.makeFolder(folder.path + "/kept")
        try Files.write("x", to: folder.path + "/kept/file")
        try Files.makeFolder(folder.path + "/gone/deep")
        var child = try Child("/bin/ln", ["-s", folder.path + "/kept", folder.path + "/gone/link"])
        let ending = child.wait()
        #expect(ending == .exited(0))
        Files.removeTree(folder.path + "/gone")
        #expect(Files.names(in: folder.path) == ["kept"])
        #expect(Files.exists(folder.path + "/kept/file"))
    }

    @Test func locksOnceAtATime() throws {
        let folder = try Temporary()
        let path = folder.path + "/lock"
        do {
            let held = try Files.lock(path)
            try Files.replaceContents(held, with: "123")
            try Files.replaceContents(held, with: "4")
            #expect(try Files.contents(path) == Array("4".utf8))
            let error = #expect(throws: SystemError.self) { _ = try Files.lock(path) }
            #expect(error?.wouldBlock == true)
        }
        _ = try Files.lock(path)
    }

    @Test func bufferedOutputKeepsOrderAndToleratesAClosedReader() throws {
        let folder = try Temporary()
        let file = try Files.create(folder.path + "/out")
        var output = Output(file.raw)
        var expected = ""
        for number in 0..<20_000 {
            try output.append("\(number)\n")
            expected += "\(number)\n"
        }
        try output.flush()
        let isWhole = try Files.contents(folder.path + "/out") == Array(expected.utf8)
        #expect(isWhole)

        Descriptor.ignoreBrokenPipes()
        let pipe = try Descriptor.pipe(nonBlockingWrite: false)
        Descriptor.close(pipe.read)
        var broken = Output(pipe.write)
        try broken.append("x")
        try broken.flush()
        try broken.append("y")
        try broken.flush()
        let isClosed = broken.isClosed
        #expect(isClosed)
        Descriptor.close(pipe.write)
    }
}
