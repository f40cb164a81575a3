// swift-tools-version: 6.2
import PackageDescription

// One array for every Swift target: language mode 6 and the upcoming features of CONTRIBUTING.md.
// Warnings become errors where INTEL_WARNINGS_AS_ERRORS is set (`make check` sets it), so that
// a newer compiler's new warning never stops a user's build.
let strict: [SwiftSetting] =
    Context.environment["INTEL_WARNINGS_AS_ERRORS"] != nil ? [.treatAllWarnings(as: .error)] : []
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + strict

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

// What libFuzzer runs: see `make fuzz`. Its programs have no main of their own, so they are here
// only where they are asked for.
let fuzzers: [Target] =
    Context.environment["INTEL_FUZZ"] == nil
    ? []
    : [
        ("fuzz-frames", "FuzzEntries", "Fuzz/Frames"),
        ("fuzz-broker", "FuzzEntries", "Fuzz/Broker"),
        ("fuzz-codec", "FuzzSpool", "Fuzz/Codec"),
    ].map { name, entries, path in
        .executableTarget(
            name: name,
            dependencies: [.byName(name: entries)],
            path: path,
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
        )
    }

let package = Package(
    name: "intel",
    products: [
        .executable(name: "intel", targets: ["intel"]),
        .library(name: "Notify", targets: ["NotifyClient"]),
        // notify(3) for C: see the Makefile for how it is built to stand alone.
        .library(name: "intel-notify", type: .dynamic, targets: ["NotifyC"]),
        .library(name: "InternalNotification", targets: ["InternalNotification"]),
        // SQLite's loadable extension: see the Makefile for how it is built to stand alone.
        .library(name: "intel_spool", type: .dynamic, targets: ["SpoolExtension"]),
        // For tests: see Tests/PowerLayer.
        .library(name: "power-layer", type: .dynamic, targets: ["PowerLayer"]),
    ],
    targets: [
        // C
        .target(name: "CLinux"),
        .target(name: "CProcessor"),
        .target(name: "CNotify"),
        .target(name: "CHostSQLite"),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

        // ground
        room("Basics", ["CProcessor"]),
        room("LinuxIO", ["Basics", "CLinux"]),

        // values
        room("Telemetry", ["Basics"]),
        room("SQLite", ["Basics", "CSQLite"]),
        room("Compression", ["Basics", "CZstd"]),
        room("NotifyProtocol", ["Basics"]),
        room("NotifyClient", ["NotifyProtocol", "LinuxIO", "Basics"]),
        room("NotifyC", ["CNotify", "NotifyClient", "NotifyProtocol"]),

        // services
        room("NotifyBroker", ["NotifyProtocol", "LinuxIO", "Basics"]),
        room(
            "InternalNotification",
            [
                "NotifyClient", "NotifyProtocol", "Telemetry", "Compression", "LinuxIO", "Basics",
            ]
        ),
        room("Spool", ["Telemetry", "SQLite", "Compression", "LinuxIO", "Basics"]),

        room("SpoolExtension", ["CHostSQLite", "Spool"]),

        // agent, commands, program
        room(
            "Agent",
            [
                "Spool", "NotifyBroker", "InternalNotification", "NotifyClient", "NotifyProtocol",
                "Telemetry", "LinuxIO", "Basics",
            ]
        ),
        room(
            "Commands",
            [
                "Agent", "Spool", "NotifyBroker", "InternalNotification", "NotifyClient",
                "NotifyProtocol", "Telemetry", "SQLite", "LinuxIO", "Basics",
            ]
        ),
        .executableTarget(name: "intel", dependencies: ["Commands"], swiftSettings: settings),

        // benchmarks
        .executableTarget(
            name: "bus-roundtrip",
            dependencies: ["NotifyClient", "NotifyProtocol", "LinuxIO"],
            path: "Benchmarks/BusRoundtrip",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bus-flood",
            dependencies: ["NotifyClient", "TestKit", "LinuxIO"],
            path: "Benchmarks/BusFlood",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bus-figures",
            dependencies: [
                "TestKit", "InternalNotification", "NotifyClient", "NotifyProtocol", "LinuxIO",
            ],
            path: "Benchmarks/BusFigures",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "spool-codec-bench",
            dependencies: ["Spool", "Compression", "Telemetry", "LinuxIO", "Basics"],
            path: "Benchmarks/SpoolCodec",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "spool-load",
            dependencies: ["Spool", "Telemetry", "LinuxIO", "Basics"],
            path: "Benchmarks/SpoolLoad",
            swiftSettings: settings
        ),

        // tests
        room(
            "TestKit",
            [
                "Spool", "NotifyBroker", "NotifyClient", "NotifyProtocol", "InternalNotification",
                "Telemetry", "LinuxIO", "Basics",
            ]
        ),
        .target(
            name: "FuzzEntries",
            dependencies: ["NotifyBroker", "NotifyProtocol", "Basics"],
            path: "Fuzz/Entries",
            swiftSettings: settings
        ),
        .target(
            name: "FuzzSpool",
            dependencies: ["Spool", "Compression", "Telemetry", "Basics"],
            path: "Fuzz/SpoolEntries",
            swiftSettings: settings
        ),
        // What a crash and a power cut leave: the layer below a program, and the program.
        .target(name: "PowerLayer", path: "Tests/PowerLayer"),
        .executableTarget(
            name: "power-scenario",
            dependencies: ["Spool", "TestKit", "Telemetry", "LinuxIO"],
            path: "Tests/PowerScenario",
            swiftSettings: settings
        ),
        tests("BasicsTests", ["Basics"]),
        tests("LinuxIOTests", ["LinuxIO", "Basics"]),
        tests("NotifyProtocolTests", ["NotifyProtocol", "LinuxIO", "Basics"]),
        tests(
            "NotifyBrokerTests",
            ["NotifyBroker", "NotifyProtocol", "FuzzEntries", "LinuxIO", "Basics"]
        ),
        tests(
            "NotifyClientTests",
            ["NotifyClient", "NotifyProtocol", "NotifyBroker", "TestKit", "LinuxIO"]
        ),
        tests(
            "InternalNotificationTests",
            ["InternalNotification", "NotifyClient", "TestKit", "Telemetry", "LinuxIO", "Basics"]
        ),
        tests(
            "SpoolTests",
            [
                "Spool", "SQLite", "Compression", "FuzzSpool", "TestKit", "Telemetry", "LinuxIO",
                "Basics",
            ]
        ),
        tests(
            "AgentTests",
            [
                "Agent", "Spool", "NotifyBroker", "NotifyClient", "InternalNotification",
                "TestKit", "Telemetry", "LinuxIO", "Basics",
            ]
        ),
        tests(
            "CommandsTests",
            ["Commands", "TestKit", "Spool", "SQLite", "Telemetry", "LinuxIO", "Basics"]
        ),
        tests(
            "ConformanceTests",
            ["NotifyClient", "NotifyProtocol", "TestKit", "LinuxIO", "Basics", "intel"]
        ),
        tests(
            "SystemTests",
            ["InternalNotification", "TestKit", "Spool", "Telemetry", "LinuxIO", "Basics", "intel"]
        ),
        tests("TidyTests", []),
    ] + fuzzers,
    swiftLanguageModes: [.v6]
)
