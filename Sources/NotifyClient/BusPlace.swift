internal import LinuxIO

/// Where the bus is, for a client that is not told.
enum BusPlace {
    /// The service's socket.
    static let system = "/run/intel/bus.sock"

    /// `INTEL_BUS`; else the service's socket, if a broker answers there; else the user's own.
    static func find() -> String {
        if let path = Environment["INTEL_BUS"] { return path }
        if Environment.uid == 0 || answers(system) { return system }
        if let folder = Environment["XDG_RUNTIME_DIR"] { return folder + "/intel/bus.sock" }
        return "/tmp/intel-\(Environment.uid)/bus.sock"
    }

    private static func answers(_ path: String) -> Bool {
        (try? PacketSocket.connect(to: path)) != nil
    }
}
