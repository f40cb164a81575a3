internal import CLinux
internal import Glibc

/// A process that this one started, killed and reaped at the latest when its owner goes.
public struct Child: ~Copyable {
    /// How a process ended.
    public enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// Its process id.
    public let pid: Int32
    private var ending: Ending?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: what follows the program's name.
    ///   - environment: added to, or replacing variables of, this process's environment.
    ///   - input, output, error: descriptors that become its 0, 1 and 2; -1 shares this process's.
    public init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: Int32 = -1,
        output: Int32 = -1,
        error: Int32 = -1
    ) throws(SystemError) {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        variables.merge(environment) { $1 }
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let started = clinux_spawn(program, argv, envp, [input, output, error], nil)
        guard started > 0 else { throw SystemError("start", program) }
        pid = started
    }

    deinit {
        if ending == nil {
            kill(pid, SIGKILL)
            var status: Int32 = 0
            waitpid(pid, &status, 0)
        }
    }

    /// Sends a signal: 2 interrupt, 9 kill, 15 terminate, 18 continue, 19 stop.
    public func signal(_ number: Int32) {
        if ending == nil { kill(pid, number) }
    }

    /// Waits until it has ended.
    public mutating func wait() -> Ending {
        if let ending { return ending }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return note(status)
    }

    /// How it ended, if it has; does not wait.
    public mutating func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == pid ? note(status) : nil
    }

    private mutating func note(_ status: Int32) -> Ending {
        let found: Ending =
            status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
        ending = found
        return found
    }
}
