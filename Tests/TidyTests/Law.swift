/// Which room may import which: the table of ARCHITECTURE.md, "The law", word for word.
///
/// A test compares the two, so a change here is a change there.
enum Law {
    /// Modules of this package and of the system that each target may import.
    static let imports: [String: Set<String>] = [
        "Basics": ["CProcessor"],
        "LinuxIO": ["Basics", "CLinux", "Dispatch", "Glibc", "Synchronization"],
        "Telemetry": ["Basics"],
        "SQLite": ["Basics", "CSQLite"],
        "Compression": ["Basics", "CZstd"],
        "NotifyProtocol": ["Basics"],
        "NotifyClient": [
            "Basics", "Dispatch", "LinuxIO", "NotifyProtocol", "Synchronization",
        ],
        "NotifyC": ["CNotify", "NotifyClient", "NotifyProtocol", "Synchronization"],
        "NotifyBroker": ["Basics", "LinuxIO", "NotifyProtocol", "Synchronization"],
        "InternalNotification": [
            "Basics", "Compression", "Dispatch", "FoundationEssentials", "LinuxIO", "NotifyClient",
            "NotifyProtocol", "Synchronization", "Telemetry",
        ],
        "Spool": [
            "Basics", "Compression", "LinuxIO", "SQLite", "Synchronization", "Telemetry",
        ],
        "Agent": [
            "Basics", "InternalNotification", "LinuxIO", "NotifyBroker", "NotifyClient",
            "NotifyProtocol", "Spool", "Synchronization", "Telemetry",
        ],
        "Commands": [
            "Agent", "Basics", "Dispatch", "FoundationEssentials", "Glibc",
            "InternalNotification", "LinuxIO", "NotifyBroker", "NotifyClient", "NotifyProtocol",
            "SQLite", "Spool", "Synchronization", "Telemetry",
        ],
        "SpoolExtension": ["CHostSQLite", "Spool"],
        "intel": ["Commands"],
        "TestKit": [
            "Basics", "InternalNotification", "LinuxIO", "NotifyBroker", "NotifyClient",
            "NotifyProtocol", "Spool", "Synchronization", "Telemetry",
        ],
    ]

    /// C modules that are a contract, not a tool: their types may show, by `public import`.
    static let contracts: Set<String> = ["CNotify"]

    /// C modules, and the one Swift target that imports each, as `internal import`.
    static let owners: [String: String] = [
        "CHostSQLite": "SpoolExtension",
        "CLinux": "LinuxIO",
        "CNotify": "NotifyC",
        "CProcessor": "Basics",
        "CSQLite": "SQLite",
        "CZstd": "Compression",
    ]
}
