public import LinuxIO

/// The built program, run as a real process.
public final class Program {
    /// What a finished process has left.
    public struct Outcome: Sendable {
        /// Exit status; 128 + signal where a signal ended it.
        public var status: Int32
        /// Standard output.
        public var output: String
        /// Standard error.
        public var error: String
    }

    private var child: Child
    private let outputPath: String
    private let errorPath: String
    private let folder: TemporaryFolder
    private var inputEnd: FileDescriptor?

    /// The path of `intel`: beside the test bundle, or what `INTEL_PROGRAM` says.
    public static var path: String {
        Environment["INTEL_PROGRAM"] ?? built("intel")
    }

    /// The path of something that was built with the tests: beside their bundle.
    public static func built(_ name: String) -> String {
        let isHelper = Environment.executable.hasSuffix("swiftpm-testing-helper")
        return Files.parent(of: isHelper ? bundle : Environment.executable) + "/" + name
    }

    /// The test bundle, which the testing helper is given as an argument.
    private static var bundle: String {
        let arguments = CommandLine.arguments
        guard let flag = arguments.firstIndex(of: "--test-bundle-path"),
            flag + 1 < arguments.count
        else { return arguments.last { $0.hasSuffix(".xctest") } ?? Environment.executable }
        return arguments[flag + 1]
    }

    /// Starts `intel` with arguments.
    ///
    /// - Parameters:
    ///   - input: what it reads from standard input.
    ///   - isFed: true where input comes by `feed` instead, until `endInput`.
    public init(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: [UInt8] = [],
        isFed: Bool = false
    ) throws(SystemError) {
        folder = try TemporaryFolder()
        outputPath = folder.file("out")
        errorPath = folder.file("err")
        let inputPath = folder.file("in")
        let made = try Files.create(inputPath)
        try Descriptor.write(made.raw, input)
        var source = try Files.openToRead(inputPath)
        if isFed {
            let pipe = try Descriptor.pipe(nonBlockingWrite: false)
            source = FileDescriptor(owning: pipe.read)
            inputEnd = FileDescriptor(owning: pipe.write)
        }
        let output = try Files.create(outputPath)
        let error = try Files.create(errorPath)
        child = try Child(
            Self.path,
            arguments,
            environment: environment,
            input: source.raw,
            output: output.raw,
            error: error.raw
        )
    }

    /// Writes to its standard input; waits while it does not read.
    public func feed(_ bytes: [UInt8]) throws(SystemError) {
        guard let raw = inputEnd?.raw else { return }
        try Descriptor.write(raw, bytes)
    }

    /// Closes its standard input.
    public func endInput() {
        inputEnd = nil
    }

    /// Its process id.
    public var pid: Int32 { child.pid }

    /// Sends a signal.
    public func signal(_ number: Int32) {
        child.signal(number)
    }

    /// True once it has ended.
    public func hasEnded() -> Bool {
        child.poll() != nil
    }

    /// What it has printed to standard error so far.
    public var errorSoFar: String {
        String(decoding: (try? Files.contents(errorPath)) ?? [], as: UTF8.self)
    }

    /// What it has printed to standard output so far.
    public var outputSoFar: String {
        String(decoding: (try? Files.contents(outputPath)) ?? [], as: UTF8.self)
    }

    /// Waits until it has ended.
    public func finish() -> Outcome {
        let status: Int32 =
            switch child.wait() {
            case .exited(let code): code
            case .signalled(let number): 128 + number
            }
        return Outcome(status: status, output: outputSoFar, error: errorSoFar)
    }

    /// Runs `intel` to its end.
    public static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: [UInt8] = []
    ) throws(SystemError) -> Outcome {
        let program = try Program(arguments, environment: environment, input: input)
        return program.finish()
    }
}
