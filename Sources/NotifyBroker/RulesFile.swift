internal import NotifyProtocol

/// The text of a rules file, read into `AccessRules`.
///
///     reserve PREFIX UID GID rwrwrw
///     claimed PREFIX GID rwrwrw
///     set NAME [STATE]
///
/// Users and groups are names or numbers; the six letters are for the owner, the group and the
/// others, `-` where something is not allowed; `#` begins a comment. Of a `claimed` prefix, what
/// stands below it up to the next dot belongs to whoever claims the first name there.
public enum RulesFile {
    /// A line that cannot be read; nothing of the file counts then.
    public struct Mistake: Error, Equatable, Sendable, CustomStringConvertible {
        /// From 1.
        public var line: Int
        /// What is wrong with it.
        public var reason: String

        /// A mistake as given.
        public init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }

        /// `line 3: no user 'nobdy'`.
        public var description: String { "line \(line): \(reason)" }
    }

    /// Turns the names of users and groups into numbers.
    public struct Directory: Sendable {
        /// The uid of a user's name; nil if there is none.
        public var user: @Sendable (String) -> UInt32?
        /// The gid of a group's name; nil if there is none.
        public var group: @Sendable (String) -> UInt32?

        /// A directory as given.
        public init(
            user: @escaping @Sendable (String) -> UInt32?,
            group: @escaping @Sendable (String) -> UInt32?
        ) {
            self.user = user
            self.group = group
        }
    }

    /// Bytes of a rules file; a longer one is refused.
    public static let bytesMax = 1 << 20
    /// Rules in one file: each registration of a new name looks at all of them.
    public static let rulesMax = 1024

    /// Reads a whole file.
    public static func parse(_ text: String, _ directory: Directory) throws(Mistake) -> AccessRules
    {
        var found = AccessRules()
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
                .map(String.init)
            if words.isEmpty { continue }
            do throws(Reason) {
                try read(words, directory, &found)
            } catch {
                throw Mistake(line: number, reason: error.text)
            }
            guard found.rules.count + found.pinned.count <= rulesMax else {
                throw Mistake(line: number, reason: "more than \(rulesMax) rules")
            }
        }
        return found
    }

    private struct Reason: Error {
        var text: String
    }

    private static func read(
        _ words: [String],
        _ directory: Directory,
        _ found: inout AccessRules
    ) throws(Reason) {
        switch (words[0], words.count) {
        case ("reserve", 5):
            var access = try rights(words[4])
            access.uid = try id(words[2], "user", directory.user)
            access.gid = try id(words[3], "group", directory.group)
            found.add(AccessRules.Rule(prefix: words[1], access: access))
        case ("reserve", _): throw Reason(text: "expected 'reserve PREFIX UID GID rwrwrw'")
        case ("claimed", 4):
            var access = try rights(words[3])
            access.gid = try id(words[2], "group", directory.group)
            found.add(AccessRules.Rule(prefix: words[1], access: access, isByClaimer: true))
        case ("claimed", _): throw Reason(text: "expected 'claimed PREFIX GID rwrwrw'")
        case ("set", 2...3):
            guard Frames.isValid(name: words[1]) else {
                throw Reason(text: "a name has 511 bytes at the most")
            }
            found.pinned.append(
                AccessRules.Pinned(
                    name: words[1],
                    state: words.count == 3 ? try state(words[2]) : 0
                )
            )
        case ("set", _): throw Reason(text: "expected 'set NAME [STATE]'")
        case ("monitor", _): throw Reason(text: "'monitor' is not supported")
        default: throw Reason(text: "unknown rule '\(words[0])'")
        }
    }

    private static func id(_ word: String, _ kind: String, _ named: (String) -> UInt32?)
        throws(Reason) -> UInt32
    {
        if let number = UInt32(word) { return number }
        guard let number = named(word) else { throw Reason(text: "no \(kind) '\(word)'") }
        return number
    }

    private static func state(_ word: String) throws(Reason) -> UInt64 {
        let value = word.hasPrefix("0x") ? UInt64(word.dropFirst(2), radix: 16) : UInt64(word)
        guard let value else { throw Reason(text: "'\(word)' is no 64-bit number") }
        return value
    }

    private static func rights(_ word: String) throws(Reason) -> Access {
        let letters = Array(word)
        let expected: [Character] = ["r", "w", "r", "w", "r", "w"]
        guard letters.count == 6, zip(letters, expected).allSatisfy({ $0 == $1 || $0 == "-" })
        else {
            throw Reason(text: "'\(word)' is no access: six letters, as rwr-r-")
        }
        func pair(_ start: Int) -> Access.Rights {
            var rights: Access.Rights = []
            if letters[start] == "r" { rights.insert(.read) }
            if letters[start + 1] == "w" { rights.insert(.write) }
            return rights
        }
        var access = Access.open
        (access.owner, access.group, access.others) = (pair(0), pair(2), pair(4))
        return access
    }
}
