public import LinuxIO

/// Reads the rules of a broker from a file.
public enum RulesLoader {
    /// Where a broker of the system looks.
    public static let defaultPath = "/etc/intel/bus.rules"

    /// Why there are no rules from a file.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        /// It cannot be read, or others than user 0 and this one may write it.
        case unreadable(SystemError)
        /// It holds a line that is none.
        case mistaken(path: String, RulesFile.Mistake)

        /// True where somebody else could have written the file.
        public var isUntrusted: Bool {
            if case .unreadable(let error) = self { error.operation == "trust" } else { false }
        }

        /// `read rules '/etc/intel/bus.rules', line 3: no user 'nobdy'`.
        public var description: String {
            switch self {
            case .unreadable(let error) where error.operation == "trust":
                "rules '\(error.subject)' must belong to root or to this user and be writable by "
                    + "nobody else"
            case .unreadable(let error): "\(error)"
            case .mistaken(let path, let mistake): "read rules '\(path)', \(mistake)"
            }
        }
    }

    /// The rules in `path`, added to the built-in ones; without a path those of the default one, if
    /// there is such a file.
    public static func load(_ path: String?) throws(Failure) -> AccessRules {
        let from = path ?? defaultPath
        if path == nil, !Files.exists(from) { return AccessRules() }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Files.trustedContents(
                from,
                owners: [0, Environment.uid],
                limit: RulesFile.bytesMax
            )
        } catch {
            throw .unreadable(error)
        }
        let directory = RulesFile.Directory(
            user: { Environment.uid(named: $0) },
            group: { Environment.gid(named: $0) }
        )
        do throws(RulesFile.Mistake) {
            return try RulesFile.parse(String(decoding: bytes, as: UTF8.self), directory)
        } catch {
            throw .mistaken(path: from, error)
        }
    }
}
