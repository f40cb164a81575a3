/// Constructs that the house does without, with the way to do without them.
enum BannedRules {
    struct Ban {
        let text: String
        let instead: String
        /// Targets where it is fine.
        var except: Set<String> = []
        /// True if tests must do without it too.
        var testsToo = true
    }

    static let bans: [Ban] = [
        Ban(text: "@unchecked Sendable", instead: "give the state one owner or a Mutex"),
        Ban(text: "nonisolated(unsafe)", instead: "give the state one owner or a Mutex"),
        Ban(text: "try!", instead: "throw, or handle the error"),
        Ban(
            text: "print(",
            instead: "libraries throw; daemons log with StandardError",
            except: ["Commands"],
            testsToo: false
        ),
        Ban(text: "sleep(", instead: "wait for the thing itself: Wake, Poller, Mailbox"),
        Ban(text: "usleep(", instead: "wait for the thing itself: Wake, Poller, Mailbox"),
        Ban(text: "nanosleep(", instead: "wait for the thing itself: Wake, Poller, Mailbox"),
        Ban(text: "Task.detached", instead: "use OwnedThread"),
        Ban(text: "DispatchQueue.global", instead: "use OwnedThread"),
    ]

    static func banned(_ file: SourceText) -> [Finding] {
        guard file.isSwift else { return [] }
        var found: [Finding] = []
        for ban in bans {
            if !file.isSource, !ban.testsToo { continue }
            if let target = file.target, ban.except.contains(target) { continue }
            for (index, line) in file.code.enumerated() where holds(line, ban.text) {
                let what = "'\(ban.text)' is banned: \(ban.instead)"
                found.append(Finding(path: file.path, line: index + 1, what: what))
            }
        }
        return found
    }

    /// True if `text` stands in the line and is not the tail of a longer word.
    static func holds(_ line: String, _ text: String) -> Bool {
        let line = Array(line.utf8)
        let text = Array(text.utf8)
        guard line.count >= text.count else { return false }
        return (0...line.count - text.count).contains { start in
            guard line[start...].starts(with: text) else { return false }
            guard start > 0, let first = text.first, isWord(first) else { return true }
            return !isWord(line[start - 1])
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        var words = Words([byte])
        return words.next() != nil
    }
}
