import Basics
import TestKit

/// A record of an export, as far as the tests look at it.
struct Exported {
    var peer = ""
    var kind = ""
    var sequence = 0
    var epoch = ""
    var pid = 0
    /// The payload's text, as it stands in the line.
    var payload = ""

    /// Reads the lines of `intel export --format ndjson` or `intel query -o json`.
    static func read(_ text: String) throws -> [Exported] {
        try text.split(separator: "\n").map { line in
            var copy = String(line)
            return try copy.withUTF8 { try Exported(UnsafeRawBufferPointer($0)) }
        }
    }

    private init(_ line: UnsafeRawBufferPointer) throws {
        var scanner = JSONScanner(line)
        try scanner.expect(UInt8(ascii: "{"))
        repeat {
            let key = String(decoding: line[try scanner.string()], as: UTF8.self)
            try scanner.expect(UInt8(ascii: ":"))
            let text = String(decoding: line[try scanner.value()], as: UTF8.self)
            switch key {
            case "peer": peer = String(text.dropFirst().dropLast())
            case "kind": kind = String(text.dropFirst().dropLast())
            case "seq": sequence = Int(text) ?? -1
            case "epoch": epoch = text
            case "pid": pid = Int(text) ?? -1
            case "payload": payload = text
            default: break
            }
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
    }
}

extension Station {
    /// All records but the agent's own, in order.
    func exported(_ more: [String] = []) throws -> [Exported] {
        let outcome = try run(["export", "--format", "ndjson"] + more)
        return try Exported.read(outcome.output).filter { $0.peer != "intel.agent" }
    }
}

/// Lines like those of real logs: text, JSON of several shapes, empty ones, odd characters.
enum SampleLines {
    static func make(_ count: Int, seed: UInt64) -> [String] {
        var state = seed
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        return (0..<count).map { index in
            switch next(8) {
            case 0: return #"{"id":\#(index),"ok":true,"v":\#(next(1000)).\#(next(90) + 10)}"#
            case 1: return #"{"a":[1,2,{"b":null}],"s":"ä\u0000\n","n":\#(next(1 << 30))}"#
            case 2: return "Jan  1 00:0\(next(10)):11 host sshd[\(next(9999))]: failed \(index)"
            case 3: return next(3) == 0 ? "" : "   "
            case 4: return "\"quoted\" \\ back\\slash \t tab \(index) é 😀"
            case 5: return "{not json \(index)"
            case 6: return String(repeating: "x\(next(100)) ", count: Int(next(60)))
            default: return "line \(index) of \(seed)"
            }
        }
    }

    /// The payload that `intel send` makes of a line.
    static func payload(_ line: String) -> String {
        if line.hasPrefix("{"), isJSON(line) { return line }
        var out = Array(#"{"message":"#.utf8)
        JSONText.appendString(line, to: &out)
        return String(decoding: out, as: UTF8.self) + "}"
    }

    private static func isJSON(_ line: String) -> Bool {
        var copy = line
        return copy.withUTF8 { (try? JSONScanner.validate(UnsafeRawBufferPointer($0))) != nil }
    }
}
