internal import LinuxIO

/// Where the bus is, for programs that do not say: the order of the manual's table.
public enum BusPath {
    /// The system bus.
    public static let system = "/run/intel/bus.sock"

    /// `INTEL_BUS`; else the system's, if it is there; else the user's own.
    public static func find() -> String {
        if let path = Environment["INTEL_BUS"] { return path }
        if Environment.uid == 0 || Files.exists(system) { return system }
        return personal
    }

    /// The bus of this user alone.
    public static var personal: String {
        if let folder = Environment["XDG_RUNTIME_DIR"] { return folder + "/intel/bus.sock" }
        return "/tmp/intel-\(Environment.uid)/bus.sock"
    }
}
