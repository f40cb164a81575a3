import LinuxIO
import TestKit
import Testing

/// The built C library, and C programs that use it.
enum CLibrary {
    /// The checkout that this was compiled from.
    static let root = Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
    static let folder = root + "/.build/notify/release"
    static let path = folder + "/libintel-notify.so"

    /// Where it has to be there; elsewhere its tests are skipped while it is not.
    static let mayRun = Files.exists(path) || Environment["CI"] == "true"
    static let advice: Comment = "there is no libintel-notify.so: build it with 'make library'"

    /// The conformance program, compiled once.
    private static let program: Result<String, Failure> = {
        let program = folder + "/conformance"
        do {
            let parts = ["conformance.c", "process.c"].map { "Tests/ConformanceC/" + $0 }
            try compile(parts, to: program)
            return .success(program)
        } catch {
            return .failure(error as? Failure ?? Failure(text: "\(error)"))
        }
    }()

    /// What a finished process has left; a status of 128 and more is a signal's number.
    struct Outcome {
        var status: Int32
        var output: String
        var error: String
    }

    struct Failure: Error {
        let text: String
    }

    /// Compiles a C program of the checkout against the header and the library.
    static func compile(_ sources: [String], to program: String) throws {
        guard Files.exists(path) else { throw Failure(text: "\(advice)") }
        let arguments =
            ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"]
            + ["-I\(root)/Sources/CNotify/include"] + sources.map { "\(root)/\($0)" }
            + ["-o", program, "-L\(folder)", "-lintel-notify", "-Wl,-rpath,\(folder)"]
        let outcome = try run("/usr/bin/env", arguments)
        guard outcome.status == 0 else { throw Failure(text: outcome.error) }
    }

    /// Runs a program to its end.
    static func run(_ program: String, _ arguments: [String], bus: String = "")
        throws -> Outcome
    {
        let run = try Run(program: program, arguments, bus: bus)
        return run.finish()
    }

    /// A running program; killed when it is let go.
    final class Run {
        private var child: Child
        private let folder: TemporaryFolder

        /// Starts one part of the conformance program.
        convenience init(_ part: String, bus: String) throws {
            try self.init(program: CLibrary.program.get(), [part], bus: bus)
        }

        init(program: String, _ arguments: [String], bus: String) throws {
            folder = try TemporaryFolder()
            let output = try Files.create(folder.file("out"))
            let error = try Files.create(folder.file("err"))
            let input = try Files.openToRead("/dev/null")
            child = try Child(
                program,
                arguments,
                environment: ["INTEL_BUS": bus, "INTEL_NOTIFY": CLibrary.path],
                input: input.raw,
                output: output.raw,
                error: error.raw
            )
        }

        var output: String { text("out") }

        func signal(_ number: Int32) { child.signal(number) }

        func kill() {
            child.signal(9)
            _ = child.wait()
        }

        func finish() -> Outcome {
            let status: Int32 =
                switch child.wait() {
                case .exited(let code): code
                case .signalled(let number): 128 + number
                }
            return Outcome(status: status, output: output, error: text("err"))
        }

        private func text(_ name: String) -> String {
            String(decoding: (try? Files.contents(folder.file(name))) ?? [], as: UTF8.self)
        }
    }
}
