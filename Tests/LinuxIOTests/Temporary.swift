import LinuxIO

/// A folder of one test's own, removed when its owner goes.
final class Temporary: Sendable {
    let path: String

    init() throws {
        path = try Files.makeTemporaryFolder("intel-test")
    }

    deinit {
        Files.removeTree(path)
    }
}

/// One second, for deadlines that are never met unless something is broken.
let second: UInt64 = 1_000_000_000
