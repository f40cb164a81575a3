internal import Agent
internal import InternalNotification
internal import LinuxIO

/// What a running agent says of itself, if there is one and it answers.
struct AgentAnswer {
    /// The process that holds the spool's lock; nil if none does.
    let pid: Int32?
    /// Its answer as JSON text; nil if there is none.
    let json: [UInt8]?
    /// Why a running agent has not answered.
    let silence: String?
    private let value: INValue

    /// Asks the agent of a spool; waits up to 2 s for one that is slow.
    init(spool: String) {
        let running = RunningAgent.find(spool: spool)
        guard running != nil else {
            self.init(pid: nil, answer: nil)
            return
        }
        do throws(SystemError) {
            let answer = try AgentSocket.ask(spool: spool)
            self.init(pid: running, answer: answer)
        } catch {
            self.init(pid: running, answer: nil, silence: "\(error)")
        }
    }

    /// An answer as it came.
    init(pid: Int32?, answer: [UInt8]?, silence: String? = nil) {
        self.pid = pid
        let read = answer?.withUnsafeBytes { INValue(json: $0) } ?? .null
        value = read
        if case .object = read {
            json = answer
            self.silence = nil
        } else {
            json = nil
            self.silence = silence ?? (answer == nil ? nil : "its answer is no JSON object")
        }
    }

    /// The number under `key`; 0 if there is none.
    func number(_ key: String) -> UInt64 { UInt64(clamping: value[key]?.intValue ?? 0) }

    /// The number under `key` of the bus that the agent hosts; nil if it hosts none.
    func busNumber(_ key: String) -> UInt64? {
        guard case .object = value["bus"]?["broker"] else { return nil }
        return UInt64(clamping: value["bus"]?["broker"]?[key]?.intValue ?? 0)
    }

    /// The text under `key` of the agent, or of its part `part`.
    func text(_ key: String, of part: String? = nil) -> String {
        (part.map { value[$0]?[key] } ?? value[key])?.stringValue ?? ""
    }

    /// The truth under `key` of the agent's part `part`.
    func flag(_ key: String, of part: String) -> Bool { value[part]?[key] == .bool(true) }

    /// What somebody should look at; also that a running agent does not answer.
    var warnings: [String] {
        if let silence { return ["the agent does not answer: \(silence)"] }
        guard case .array(let items) = value["warnings"] else { return [] }
        return items.compactMap(\.stringValue)
    }
}
