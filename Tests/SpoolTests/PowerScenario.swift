import LinuxIO
import Spool
import TestKit

/// A run of the program of Tests/PowerScenario on a folder of its own.
enum PowerScenario: String, CaseIterable, CustomStringConvertible {
    case commit, compact, retain, migrate, restore, backup
    /// Opens the spool, tells the senders what is there, and goes on.
    case resume

    /// Those that are run by themselves.
    static let all = allCases.filter { $0 != .resume }

    var description: String { rawValue }

    struct Failed: Error {
        let text: String
    }

    private static let program = Program.built("power-scenario")
    private static let layer = Program.built("libpower-layer.so")

    /// How a run ended, and what it has said.
    struct Outcome {
        var ending: Child.Ending
        var lines: [String]
    }

    /// Makes in `root` what the scenario begins with.
    ///
    /// - Returns: what is promised about that.
    func prepare(_ root: String) throws -> PowerPromise {
        switch self {
        case .commit, .resume:
            return PowerPromise(last: 0)
        case .compact:
            try Self.fill(root, "fill")
            return PowerPromise(last: 54)
        case .retain, .backup:
            try Self.fill(root)
            return PowerPromise(last: 54)
        case .migrate:
            do {
                var writer = try SpoolWriter(directory: root + "/spool", durability: .full)
                _ = try writer.commit(NumberedRecords.commit(1...6))
                _ = try writer.commit(NumberedRecords.commit(7...12))
            }
            try Fixture.age(root + "/spool")
            return PowerPromise(last: 12)
        case .restore:
            let source = try TemporaryFolder()
            try Self.fill(source.path)
            let folder = source.file("backup")
            _ = try SpoolBackup(spool: source.file("spool"), folder: folder).run()
            try Files.makeFolder(root + "/spool/seg")
            for name in ["hot.db"] + Files.names(in: folder + "/seg").map({ "seg/" + $0 }) {
                try Files.copy(folder + "/" + name, to: root + "/spool/" + name)
            }
            return PowerPromise(last: 54)
        }
    }

    /// Nine commits; where nothing else is said, most of them in segments.
    private static func fill(_ root: String, _ name: String = "fill and compact") throws {
        let outcome = try run(name, root, .full, [:])
        guard outcome.ending == .exited(0) else { throw Failed(text: "fill: \(outcome)") }
    }

    /// Runs it to its end, and tells what it did.
    func trace(_ root: String, _ durability: Durability) throws -> PowerTrace {
        let folder = try TemporaryFolder()
        let outcome = try run(root, durability, ["POWER_TRACE": folder.file("trace")])
        guard outcome.ending == .exited(0) else { throw Failed(text: "\(self): \(outcome)") }
        return try PowerTrace(folder.file("trace"))
    }

    /// Runs it above the layer.
    func run(_ root: String, _ durability: Durability, _ environment: [String: String])
        throws -> Outcome
    {
        var environment = environment
        environment["LD_PRELOAD"] = Self.layer
        environment["POWER_ROOT"] = root
        return try Self.run(rawValue, root, durability, environment)
    }

    private static func run(
        _ name: String,
        _ root: String,
        _ durability: Durability,
        _ environment: [String: String]
    ) throws -> Outcome {
        let folder = try TemporaryFolder()
        let output = try Files.create(folder.file("out"))
        let mode = durability == .full ? "full" : "normal"
        var child = try Child(
            program,
            [name, root, mode],
            environment: environment,
            output: output.raw
        )
        let ending = child.wait()
        let text = String(decoding: try Files.contents(folder.file("out")), as: UTF8.self)
        return Outcome(ending: ending, lines: text.split(separator: "\n").map(String.init))
    }
}
