/// Writes a JSON object key by key.
public struct ObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// An empty object.
    public init() {}

    /// The whole object.
    public var finished: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// True while nothing has been added.
    public var isEmpty: Bool { bytes.count == 1 }

    /// Adds a whole number.
    public mutating func add(_ key: String, _ value: UInt64) {
        start(key)
        bytes.appendDecimal(value)
    }

    /// Adds a whole number that may be negative.
    public mutating func add(_ key: String, _ value: Int64) {
        start(key)
        bytes.appendDecimal(value)
    }

    /// Adds a number of hundredths as a decimal: 4990 is `49.90`.
    public mutating func add(_ key: String, hundredths value: Int64) {
        start(key)
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.appendDecimal(value.magnitude / 100)
        bytes.append(UInt8(ascii: "."))
        bytes.appendDecimal(value.magnitude % 100, width: 2)
    }

    /// Adds a text.
    public mutating func add(_ key: String, _ value: String) {
        start(key)
        JSONText.appendString(value, to: &bytes)
    }

    /// Adds true or false.
    public mutating func add(_ key: String, _ value: Bool) {
        start(key)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Adds JSON text as it is.
    public mutating func add(_ key: String, json: [UInt8]) {
        start(key)
        bytes.append(contentsOf: json)
    }

    /// Adds an array of JSON texts.
    public mutating func add(_ key: String, array: [[UInt8]]) {
        start(key)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in array.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds an array of texts.
    public mutating func add(_ key: String, texts: [String]) {
        let items = texts.map { text in
            var item: [UInt8] = []
            JSONText.appendString(text, to: &item)
            return item
        }
        add(key, array: items)
    }

    private mutating func start(_ key: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        JSONText.appendString(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
