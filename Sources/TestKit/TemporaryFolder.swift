public import LinuxIO

/// A folder of a test's own, removed with all that is in it when the test lets it go.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let path: String

    /// A new, empty folder with a short path: Unix sockets in it have 107 bytes at the most.
    public init() throws(SystemError) {
        path = try Files.makeTemporaryFolder("intel-test")
    }

    deinit {
        Files.removeTree(path)
    }

    /// The path of something in it.
    public func file(_ name: String) -> String {
        path + "/" + name
    }
}
