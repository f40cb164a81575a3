internal import Basics

/// Writes a JSON object key by key.
struct ObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// The whole object.
    var finished: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// True while nothing has been added.
    var isEmpty: Bool { bytes.count == 1 }

    /// Adds a whole number.
    mutating func add(_ key: String, _ value: UInt64) {
        start(key)
        bytes.appendDecimal(value)
    }

    /// Adds a whole number that may be negative.
    mutating func add(_ key: String, _ value: Int64) {
        start(key)
        bytes.appendDecimal(value)
    }

    /// Adds a number of hundredths as a decimal: 4990 is `49.90`.
    mutating func add(_ key: String, hundredths value: Int64) {
        start(key)
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.appendDecimal(value.magnitude / 100)
        bytes.append(UInt8(ascii: "."))
        bytes.appendDecimal(value.magnitude % 100, width: 2)
    }

    /// Adds a text.
    mutating func add(_ key: String, _ value: String) {
        start(key)
        JSONText.appendString(value, to: &bytes)
    }

    /// Adds true or false.
    mutating func add(_ key: String, _ value: Bool) {
        start(key)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Adds JSON text as it is.
    mutating func add(_ key: String, json: [UInt8]) {
        start(key)
        bytes.append(contentsOf: json)
    }

    /// Adds an array of JSON texts.
    mutating func add(_ key: String, array: [[UInt8]]) {
        start(key)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in array.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func start(_ key: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        JSONText.appendString(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
