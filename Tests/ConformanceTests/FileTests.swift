import LinuxIO
import NotifyClient
import NotifyProtocol
import TestKit
import Testing

@Suite struct FileTests {
    @Test("a path is watched before it is there: create, write and delete are one event each")
    func comesAndGoes() throws {
        let bus = try Bus()
        let (client, other) = (try bus.client(), try bus.client())
        let (seen, untouched) = (Seen(), Seen())
        let folder = try TemporaryFolder()
        // The folder of the file is not there either.
        let path = folder.file("deep/er/file")
        let token = try client.registerHandler("file") { seen.add($0) }
        let check = try client.registerCheck("file")
        _ = try other.registerHandler("file") { untouched.add($0) }
        try client.monitorFile(token, path)
        try client.monitorFile(check, path)
        _ = try client.check(check)
        try Files.makeFolder(folder.file("deep"))
        try Files.makeFolder(folder.file("deep/er"))
        #expect(try staysAt(0, seen))
        let steps: [() throws -> Void] = [
            { try Files.write("one", to: path) }, { try Files.write("two", to: path) },
            { try Files.remove(path) }, { try Files.write("again", to: path) },
        ]
        for (index, step) in steps.enumerated() {
            try step()
            #expect(eventually { seen.count == index + 1 })
            #expect(try eventually { try client.check(check) })
            #expect(try staysAt(index + 1, seen))
            #expect(try !client.check(check))
        }
        #expect(untouched.count == 0)
        try other.post("file")
        #expect(eventually { seen.count == steps.count + 1 && untouched.count == 1 })
        try client.cancel(token)
        try Files.write("unheard", to: path)
        #expect(try staysAt(steps.count + 1, seen))
    }

    @Test("only the changes that were asked for are told")
    func flags() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        let token = try client.registerHandler("file") { seen.add($0) }
        try client.monitorFile(token, path, .delete)
        try Files.write("one", to: path)
        #expect(try staysAt(0, seen))
        try Files.remove(path)
        #expect(eventually { seen.count == 1 })
    }

    @Test("changes while a token is suspended are one event when it is resumed")
    func suspended() throws {
        let bus = try Bus()
        let client = try bus.client()
        let seen = Seen()
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        let token = try client.registerHandler("file") { seen.add($0) }
        try client.monitorFile(token, path)
        try client.suspend(token)
        try Files.write("one", to: path)
        #expect(try staysAt(0, seen))
        try Files.remove(path)
        #expect(try staysAt(0, seen))
        try client.resume(token)
        #expect(eventually { seen.count == 1 })
        #expect(try staysAt(1, seen))
    }

    @Test("a second path, a relative one and a self. name are refused; the same path is not")
    func refusals() throws {
        let bus = try Bus()
        let client = try bus.client()
        let folder = try TemporaryFolder()
        let token = try client.registerCheck("file")
        let own = try client.registerCheck("self.file")
        try client.monitorFile(token, folder.file("a"))
        try client.monitorFile(token, folder.file("a"))
        #expect(throws: NotifyStatus.invalidRequest) {
            try client.monitorFile(token, folder.file("b"))
        }
        #expect(throws: NotifyStatus.invalidRequest) { try client.monitorFile(token, "a") }
        #expect(throws: NotifyStatus.invalidRequest) {
            try client.monitorFile(own, folder.file("a"))
        }
    }
}
