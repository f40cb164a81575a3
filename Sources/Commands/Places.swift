internal import Glibc
internal import LinuxIO
internal import NotifyClient
internal import Telemetry

/// Where the bus, the spool and the channel are: flag, then environment, then the default of
/// CLI.md for the service itself (root or user `intel`) or for everybody else.
struct Places {
    /// Where the service has its spool.
    static let systemSpool = "/var/lib/intel/spool"
    /// The channel that peers share when they name none.
    static let defaultChannel = "intel"

    /// What a path turns out to be for this process.
    enum Access {
        case usable, denied, absent
    }

    private let arguments: Parsed
    /// An environment variable; nil if unset or empty.
    var environment: (String) -> String? = { Environment[$0] }
    /// The effective user.
    var uid = Environment.uid
    /// True for root and user `intel`, whose places are the system's.
    var isService: () -> Bool = { Places.isServiceUser }
    /// True if a broker answers on this socket.
    var answers: (String) -> Bool = BusPlace.answers
    /// Whether a folder can be read, and, where asked for, written.
    var access: (String, _ toWrite: Bool) -> Access = Places.access

    /// The places that these flags and this process's surroundings name.
    init(_ arguments: Parsed) {
        self.arguments = arguments
    }

    /// The socket of the bus.
    var bus: String {
        if let named = named(.bus, "INTEL_BUS") { return named }
        if isService() || answers(BusPlace.system) { return BusPlace.system }
        return BusPlace.personal(runtime: environment("XDG_RUNTIME_DIR"), uid: uid)
    }

    /// The folder of the spool; `toWrite` for the agent, which needs more than to read it.
    ///
    /// Where nothing is named, the service's spool exists but may not be read, and there is none of
    /// one's own, the answer is the service's: "not allowed" must not look like "nothing there".
    func spool(toWrite: Bool = false) -> String {
        if let named = named(.spool, "INTEL_SPOOL") { return named }
        if isService() { return Self.systemSpool }
        let system = access(Self.systemSpool, toWrite)
        if system == .usable { return Self.systemSpool }
        let own = ownSpool
        if toWrite || system == .absent || access(own, false) == .usable { return own }
        return Self.systemSpool
    }

    /// The channel that the peers share.
    func channel() throws(CommandError) -> String {
        let name = named(.channel, "INTEL_CHANNEL") ?? Self.defaultChannel
        guard (1...Limits.nameBytesMax).contains(name.utf8.count) else {
            throw CommandError("--channel: not 1 to \(Limits.nameBytesMax) bytes")
        }
        return name
    }

    private var ownSpool: String {
        if let state = environment("XDG_STATE_HOME") { return state + "/intel/spool" }
        return (environment("HOME") ?? "/tmp/intel-\(uid)") + "/.local/state/intel/spool"
    }

    private func named(_ flag: Flag, _ variable: String) -> String? {
        arguments.value(flag) ?? environment(variable)
    }

    private static var isServiceUser: Bool {
        if Environment.uid == 0 { return true }
        // By hand: the name service would be the only reason to load its libraries at start-up.
        guard let users = try? Files.contents("/etc/passwd", limit: 1 << 20) else { return false }
        let fields = users.split(separator: 0x0a)
            .first { $0.starts(with: "intel:".utf8) }?
            .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let fields, fields.count > 2 else { return false }
        return String(decoding: fields[2], as: UTF8.self) == String(Environment.uid)
    }

    private static func access(_ path: String, toWrite: Bool) -> Access {
        if Glibc.access(path, R_OK | X_OK | (toWrite ? W_OK : 0)) == 0 { return .usable }
        return errno == EACCES || errno == EPERM || errno == EROFS ? .denied : .absent
    }
}
