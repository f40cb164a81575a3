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

    /// True if a broker takes connections there.
    public static func answers(_ path: String) -> Bool {
        (try? PacketSocket.connect(to: path)) != nil
    }
}
