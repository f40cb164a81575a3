internal import LinuxIO

/// Temperatures as the kernel's sensors tell them: `class/hwmon`, and of `class/thermal` the zones
/// that are not among those.
///
/// A virtual machine has none; a sensor that cannot be read is left out.
enum Temperatures {
    /// One sensor.
    struct Reading: Equatable {
        /// The chip or zone: `coretemp`, `x86_pkg_temp`.
        var chip: String
        /// What it measures: `Core 0`; `temp1` where the driver does not say.
        var label: String
        /// Thousandths of a degree Celsius.
        var millidegrees: Int64
    }

    /// All sensors below `root` (`/sys`), `limit` of them at the most.
    static func read(root: String, limit: Int) -> [Reading] {
        var found: [Reading] = []
        for monitor in names(root + "/class/hwmon") {
            let chip = text(monitor + "/name") ?? Files.name(of: monitor)
            let inputs = Files.names(in: monitor)
                .filter { $0.hasPrefix("temp") && $0.hasSuffix("_input") }
                .map { String($0.dropLast("_input".count)) }
            for input in inputs.sorted(by: isBefore) {
                guard let value = text(monitor + "/\(input)_input").flatMap(millidegrees) else {
                    continue
                }
                let label = text(monitor + "/\(input)_label") ?? input
                found.append(Reading(chip: chip, label: label, millidegrees: value))
            }
        }
        let chips = Set(found.map(\.chip))
        for zone in names(root + "/class/thermal") {
            guard Files.name(of: zone).hasPrefix("thermal_zone"),
                let value = text(zone + "/temp").flatMap(millidegrees)
            else { continue }
            let chip = text(zone + "/type") ?? Files.name(of: zone)
            // The kernel shows most zones among the monitors as well.
            if chips.contains(chip) { continue }
            found.append(Reading(chip: chip, label: Files.name(of: zone), millidegrees: value))
        }
        return Array(found.prefix(limit))
    }

    /// `45000`; nil for what is no number, or a temperature of nothing on earth (a sensor that is
    /// not connected tells such).
    static func millidegrees(_ text: String) -> Int64? {
        guard let value = Int64(text), (-100_000...1_000_000).contains(value) else { return nil }
        return value
    }

    /// `temp2` before `temp10`, `hwmon2` before `hwmon10`.
    private static func isBefore(_ one: String, _ other: String) -> Bool {
        (one.utf8.count, one) < (other.utf8.count, other)
    }

    private static func names(_ folder: String) -> [String] {
        Files.names(in: folder).sorted(by: isBefore).map { folder + "/" + $0 }
    }

    /// The first line of a file, without its end; nil if there is none.
    private static func text(_ path: String) -> String? {
        guard let bytes = try? Files.contents(path, limit: 256) else { return nil }
        let line = String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self)
        return line.isEmpty ? nil : line
    }
}
