/// Severity levels, syslog's eight (RFC 5424, 6.2.1): the lower the number, the worse.
public enum Level: UInt8, CaseIterable, Comparable, Sendable {
    case emergency = 0
    case alert, critical, error, warning, notice, info, debug

    /// The short name, as `journalctl -p` takes and JSON output shows it.
    public var name: String {
        switch self {
        case .emergency: "emerg"
        case .alert: "alert"
        case .critical: "crit"
        case .error: "err"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Reads a short name, a common long name, or a digit 0 to 7; letters of any case.
    public init?(name: String) {
        switch name.lowercased() {
        case "0", "emerg", "emergency", "panic": self = .emergency
        case "1", "alert": self = .alert
        case "2", "crit", "critical": self = .critical
        case "3", "err", "error": self = .error
        case "4", "warning", "warn": self = .warning
        case "5", "notice": self = .notice
        case "6", "info": self = .info
        case "7", "debug": self = .debug
        default: return nil
        }
    }

    /// Worse is less: `emergency < debug`.
    public static func < (left: Level, right: Level) -> Bool {
        left.rawValue < right.rawValue
    }
}
