/// What the broker's own process asks of it.
extension BrokerState {
    /// Puts other rules in the place of these, for names that come to be from now on.
    ///
    /// A name that exists keeps what it was given, as clients have its memory file. Names that the
    /// rules hold are there at once, and keep the state that they have already; those that they
    /// hold no more end with their last registration.
    public mutating func replace(_ rules: AccessRules, now: UInt64) {
        let held = Set(rules.pinned.map { NameKey(text: $0.name) })
        let freed = self.rules.pinned.compactMap { names[$0.name] }
            .filter { !held.contains(NameKey(text: $0.text)) }
        self.rules = rules
        for name in freed {
            name.isPinned = false
            freeIfUnused(name)
        }
        for pinned in rules.pinned {
            if let name = names[pinned.name] {
                name.isPinned = true
            } else {
                pin(pinned, now: now)
            }
        }
    }

    /// The counters, and the memory that is in use.
    var report: BrokerFigures {
        var report = figures
        report.memoryBytes = memories.reduce(0) { sum, memory in
            sum + (memory.map { $0.slotsInUse * 16 + $0.poolWordsInUse * 8 } ?? 0)
        }
        return report
    }
}
