internal import LinuxIO

/// Where the bus is, for a program that is not told.
public enum BusPlace {
    /// The service's socket.
    public static let system = "/run/intel/bus.sock"

    /// `INTEL_BUS`; else the service's socket, if a broker answers there (for root always); else
    /// the user's own.
    public static func find() -> String {
        if let path = Environment["INTEL_BUS"] { return path }
        if Environment.uid == 0 || answers(system) { return system }
        return personal(runtime: Environment["XDG_RUNTIME_DIR"], uid: Environment.uid)
    }

    /// The socket of one user's own bus, below `XDG_RUNTIME_DIR` or else /tmp.
    public static func personal(runtime: String?, uid: UInt32) -> String {
        (runtime.map { $0 + "/intel" } ?? "/tmp/intel-\(uid)") + "/bus.sock"
    }

    /// Why a socket must not be used; nil for all is well.
    ///
    /// The user's own place below /tmp could have been made by anybody before: its folder must
    /// belong to this user or to root, and be writable by nobody else.
    public static func fault(of path: String) -> String? {
        let uid = Environment.uid
        let folder = Files.parent(of: path)
        guard path == personal(runtime: nil, uid: uid), Files.exists(folder),
            !Files.isTrusted(folder: folder, owner: uid)
        else { return nil }
        return "'\(folder)' must belong to root or to this user and be writable by nobody else"
    }

    /// True if a broker takes connections there.
    public static func answers(_ path: String) -> Bool {
        (try? PacketSocket.connect(to: path)) != nil
    }
}
