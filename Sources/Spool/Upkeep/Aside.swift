internal import Basics
internal import LinuxIO

/// A folder below the spool's for what was found damaged, with the time in its name:
/// `damaged-20261130T152000.123456789Z`.
struct Aside {
    private static let prefix = "damaged-"
    /// More than these are not kept: the oldest go.
    private static let countMax = 8

    /// Its name in the spool's folder.
    let name: String
    private let path: String

    /// Makes the folder.
    init(spool: String, stamp: String = Self.stamp()) throws(SystemError) {
        name = Self.prefix + stamp
        path = spool + "/" + name
        try Files.makeFolder(path + "/seg", mode: 0o750)
        let all = Files.names(in: spool).filter { $0.hasPrefix(Self.prefix) }
        for old in all.dropLast(Self.countMax) { Files.removeTree(spool + "/" + old) }
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Takes a file in under its own name.
    func take(_ file: String, into folder: String = "") throws(SystemError) {
        try Files.rename(file, to: path + folder + "/" + Files.name(of: file))
    }

    func sync() throws(SystemError) {
        try Files.sync(path + "/seg")
        try Files.sync(path)
    }

    /// The time in a form that sorts and suits a file name.
    static func stamp() -> String {
        var text: [UInt8] = []
        CivilTime.appendRFC3339(Clock.system.wall(), to: &text)
        text.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
        return String(decoding: text, as: UTF8.self)
    }
}
