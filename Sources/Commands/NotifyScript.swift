/// What stands after `intel notify`: options and steps, done from left to right as notifyutil does.
///
/// The whole line is checked before anything of it is done.
struct NotifyScript: Equatable {
    /// How a watched name's posts reach the program.
    enum Delivery: Equatable {
        case dispatch, file, check, plain
        case signal(Int32)

        /// The word that `-v` shows.
        var name: String {
            switch self {
            case .dispatch: "dispatch"
            case .file: "file"
            case .check: "check"
            case .plain: "plain"
            case .signal: "signal"
            }
        }
    }

    /// One thing to do.
    enum Step: Equatable {
        case post(String)
        case get(String)
        case set(String, UInt64)
        /// Reports posts: `count` of them, or for ever; `since` is a post number already seen.
        case watch(String, count: UInt64?, delivery: Delivery, since: UInt64?)
        /// Lists the names that begin so.
        case list(String)
        /// Lists the connections.
        case who
    }

    /// Prints only what `-g` asks for.
    var isQuiet = false
    /// Prints every field.
    var isVerbose = false
    /// Prints JSON, one object a line.
    var isJSON = false
    /// How often `-check` looks, in milliseconds.
    var interval = 100
    /// The socket of the bus; nil where none is named.
    var bus: String?
    /// The help is asked for.
    var wantsHelp = false
    /// What to do, in order.
    var steps: [Step] = []

    private var delivery = Delivery.dispatch
    private var since: UInt64?

    /// Reads a line.
    init(_ arguments: [String]) throws(CommandError) {
        var rest = arguments[...]
        while let word = rest.popFirst() { try read(word, &rest) }
        if steps.isEmpty, !wantsHelp { throw Self.usage("nothing to do") }
    }

    private mutating func read(_ word: String, _ rest: inout ArraySlice<String>)
        throws(CommandError)
    {
        switch word {
        case "-q": isQuiet = true
        case "-v": isVerbose = true
        case "--json": isJSON = true
        case "-h", "-help", "--help": wantsHelp = true
        // There is one connection, and it always comes back by itself.
        case "-M", "-R": break
        case "-z": interval = Int(clamping: try Self.number(word, &rest, 1...3_600_000))
        case "--since": since = try Self.number(word, &rest, 0...(.max))
        case "--bus": bus = try Self.next(word, &rest)
        case "-p": steps.append(.post(try Self.next(word, &rest)))
        case "-g": steps.append(.get(try Self.next(word, &rest)))
        case "-s":
            let name = try Self.next(word, &rest)
            steps.append(.set(name, try Self.state(word, &rest)))
        case "-w": watch(try Self.next(word, &rest), nil)
        case "-l":
            steps.append(.list(rest.first.flatMap { $0.hasPrefix("-") ? nil : $0 } ?? ""))
            if rest.first?.hasPrefix("-") == false { rest.removeFirst() }
        case "--who": steps.append(.who)
        case "-port", "-dispatch": delivery = .dispatch
        case "-file": delivery = .file
        case "-check": delivery = .check
        case "-plain": delivery = .plain
        case "-signal", "-sig": delivery = .signal(Self.signal(&rest))
        default:
            guard word.hasPrefix("-"), let count = UInt64(word.dropFirst()), count > 0 else {
                throw Self.usage("unknown argument '\(word)'")
            }
            watch(try Self.next(word, &rest), count)
        }
    }

    private mutating func watch(_ name: String, _ count: UInt64?) {
        steps.append(.watch(name, count: count, delivery: delivery, since: since))
    }

    private static func next(_ flag: String, _ rest: inout ArraySlice<String>)
        throws(CommandError) -> String
    {
        guard let value = rest.popFirst() else { throw usage("\(flag) needs a value") }
        return value
    }

    private static func number(
        _ flag: String,
        _ rest: inout ArraySlice<String>,
        _ range: ClosedRange<UInt64>
    ) throws(CommandError) -> UInt64 {
        let text = try next(flag, &rest)
        guard let number = UInt64(text), range.contains(number) else {
            throw usage("\(flag): '\(text)' is not a number from \(range.lowerBound)")
        }
        return number
    }

    /// Decimal, `0x` and hexadecimal digits, or negative as two's complement.
    private static func state(_ flag: String, _ rest: inout ArraySlice<String>)
        throws(CommandError) -> UInt64
    {
        let text = try next(flag, &rest)
        let isHex = text.hasPrefix("0x") || text.hasPrefix("0X")
        let value = isHex ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        guard let value = value ?? Int64(text).map(UInt64.init(bitPattern:)) else {
            throw usage("\(flag): '\(text)' is not a 64-bit integer")
        }
        return value
    }

    /// The number after `-signal`, if there is one; else 1 (HUP).
    private static func signal(_ rest: inout ArraySlice<String>) -> Int32 {
        guard let first = rest.first, let number = Int32(first), (1...64).contains(number) else {
            return 1
        }
        rest.removeFirst()
        return number
    }

    private static func usage(_ message: String) -> CommandError {
        CommandError("notify: \(message)", hint: "see 'intel help notify'")
    }
}
