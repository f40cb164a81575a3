public import LinuxIO

/// A folder of a test's own, removed with all that is in it when the test lets it go.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let path: String

    /// A new, empty folder with a short path: Unix sockets in it have 107 bytes at the most.
    public init() throws(SystemError) {
        path = try Files.makeTemporaryFolder("intel-test")
    }

    /// A new, empty folder that no disk is behind, where there is room: to sync costs nothing.
    public init(inMemory: Bool) throws(SystemError) {
        let memory = "/dev/shm"
        let free = inMemory ? (try? DiskSpace(at: memory))?.free ?? 0 : 0
        path = try Files.makeTemporaryFolder("intel-test", in: free > 256 << 20 ? memory : nil)
    }

    deinit {
        Files.removeTree(path)
    }

    /// The path of something in it.
    public func file(_ name: String) -> String {
        path + "/" + name
    }
}
