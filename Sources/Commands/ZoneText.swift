/// The zone after a written time: `Z`, `UTC`, `+01:00`, `-0530`, `+02`,
/// `Europe/London`.
enum ZoneText {
    /// The zone that `text` names; the default one if it is empty, nil if it names none.
    static func read(_ text: String, default zone: Zone) -> Zone? {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        if scanner.isAtEnd { return zone }
        switch scanner.rest.uppercased() {
        case "Z", "UTC", "GMT", "ETC/UTC": return .utc
        default: break
        }
        let isEast = scanner.take("+")
        guard isEast || scanner.take("-") else { return ZoneFile.zone(named: scanner.rest) }
        return offset(&scanner).map { .fixed(isEast ? $0 : -$0) }
    }

    private static func offset(_ scanner: inout TextScanner) -> Int64? {
        guard var hours = scanner.integer(upTo: 4) else { return nil }
        var minutes: Int64 = 0
        if hours.digits == 4 {
            minutes = hours.value % 100
            hours.value /= 100
        } else if scanner.take(":") {
            guard let part = scanner.integer(upTo: 2), part.digits == 2 else { return nil }
            minutes = part.value
        }
        guard hours.digits != 3, scanner.isAtEnd, hours.value <= 24, minutes < 60 else {
            return nil
        }
        return hours.value * 3600 + minutes * 60
    }
}
