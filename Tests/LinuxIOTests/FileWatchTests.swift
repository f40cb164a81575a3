import LinuxIO
import Testing

@Suite struct FileWatchTests {
    @Test func tellsOfNamesInAFolderInTheirOrder() throws {
        let folder = try Temporary()
        let watch = try FileWatch()
        let wanted: FileWatch.Changes = [.created, .deleted, .movedFrom, .movedTo]
        let number = try watch.add(folder.path, for: wanted)
        #expect(watch.events().isEmpty)
        #expect(!Descriptor.isReadable(watch.descriptor, milliseconds: 0))
        try Files.write("x", to: folder.path + "/a")
        try Files.rename(folder.path + "/a", to: folder.path + "/a longer name")
        try Files.remove(folder.path + "/a longer name")
        #expect(Descriptor.isReadable(watch.descriptor, milliseconds: 1000))
        let events = watch.events()
        #expect(events.map(\.name) == ["a", "a", "a longer name", "a longer name"])
        #expect(events.map(\.changes) == [.created, .movedFrom, .movedTo, .deleted])
        #expect(events.allSatisfy { $0.watch == number })
        #expect(events[1].cookie != 0 && events[1].cookie == events[2].cookie)
        #expect(watch.events().isEmpty)
    }

    @Test func staysWithAFileWhateverItsName() throws {
        let folder = try Temporary()
        let path = folder.path + "/f"
        let watch = try FileWatch()
        let file = try Files.openToAppend(path)
        try Files.rename(path, to: path + ".1")
        let wanted: FileWatch.Changes = [.modified, .attributes, .selfMoved, .selfDeleted]
        let number = try watch.add(opened: file.raw, for: wanted)
        #expect(try watch.add(path + ".1", for: wanted) == number)
        try Descriptor.write(file.raw, [1])
        try Files.rename(path + ".1", to: path + ".2")
        try Files.remove(path + ".2")
        #expect(watch.events().map(\.changes) == [.modified, .selfMoved, .attributes])
        watch.remove(number)
        watch.remove(number)
        #expect(watch.events().map(\.changes) == [.ended])
    }

    @Test func manyEventsComeWhole() throws {
        let folder = try Temporary()
        let watch = try FileWatch()
        _ = try watch.add(folder.path, for: .created)
        let names = (0..<2000).map { "file-\($0)" }
        for name in names { try Files.write("", to: folder.path + "/" + name) }
        #expect(watch.events().map(\.name) == names)
    }

    @Test func saysWhatCannotBeWatched() throws {
        let watch = try FileWatch()
        let error = #expect(throws: SystemError.self) { try watch.add("/nowhere", for: .created) }
        #expect(error?.isNotFound == true)
    }
}
