import Spool

/// What a scenario has promised by some moment; Tests/PowerScenario/Stage.swift has the words.
struct PowerPromise: Hashable {
    /// The last record of the last commit that has begun.
    var begun: UInt64
    /// The last record that a sender was told of.
    var stored: UInt64
    /// The last record that stays whatever the durability.
    var durable: UInt64
    /// The last record that retention may have removed.
    var removable: UInt64 = 0
    /// What the last backup holds, and what the one that is being made will hold.
    var backed: ClosedRange<UInt64>?
    var backing: ClosedRange<UInt64>?

    /// Records 1 to `last` are there for good.
    init(last: UInt64) {
        begun = last
        stored = last
        durable = last
    }

    /// The last record that must be there.
    func least(_ durability: Durability) -> UInt64 {
        durability == .full ? max(stored, durable) : durable
    }

    struct Unheard: Error {
        let line: String
    }

    mutating func hear(_ line: String) throws {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard let word = words.first, let number = numbers.first else {
            throw Unheard(line: line)
        }
        switch word {
        case "begin": begun = number
        case "stored": stored = max(stored, number)
        case "durable": durable = max(durable, number)
        case "retain": removable = max(removable, number)
        case "backup": backing = number...(numbers.last ?? number)
        case "backed":
            backed = number...(numbers.last ?? number)
            backing = nil
        default: throw Unheard(line: line)
        }
    }
}
