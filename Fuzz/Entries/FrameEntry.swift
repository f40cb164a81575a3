internal import Basics
internal import NotifyProtocol

/// Any bytes as a frame, read as the broker and as a client read it.
///
/// What is read and written again reads as the same; what the broker's quick look at an operation
/// takes for whole is whole.
package enum FrameEntry {
    /// Longer inputs are cut: a frame is never longer.
    static let bytesMax = Frames.bytesMax

    /// What is wrong; nil if nothing is.
    package static func run(_ input: [UInt8]) -> String? {
        let frame = Array(input.prefix(bytesMax))
        return frame.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let header = try? Frames.Header(from: &reader) else { return nil }
            switch Frames.Kind(rawValue: header.kind) {
            case .request: return operations(bytes, &reader)
            case .answer: return answer(&reader) ?? reports(bytes)
            case .events: return events(&reader)
            case .memory: return notice(frame)
            default: return nil
            }
        }
    }

    private static func operations(_ bytes: UnsafeRawBufferPointer, _ reader: inout ByteReader)
        -> String?
    {
        while !reader.isAtEnd {
            let start = reader.offset
            let head = OperationHead(bytes, at: start)
            guard let operation = try? Operation(from: &reader) else {
                guard let head, !head.hasText else { return nil }
                return "operation \(head.code) at \(start) is whole to the head alone"
            }
            guard let head else { return "\(operation) at \(start) is not whole to the head" }
            guard head.end == reader.offset else {
                return "\(operation) ends at \(reader.offset), not at \(head.end)"
            }
            if case .poolWrite(_, _, let words) = operation {
                guard words.lowerBound == head.start + 8, words.upperBound == head.end else {
                    return "words \(words) of \(head)"
                }
                continue
            }
            if case .unknown = operation { continue }
            var writer = ByteWriter()
            operation.append(to: &writer)
            let again = read(writer.bytes) { try Operation(from: &$0) }
            if again != operation { return "\(operation) is read as \(String(describing: again))" }
        }
        return nil
    }

    private static func answer(_ reader: inout ByteReader) -> String? {
        while (try? reader.u32()) != nil {
            guard let length = try? reader.u32(), length >= 8,
                let body = try? reader.raw(Int(length) - 8)
            else { return nil }
            var inside = ByteReader(body)
            if let found = try? NameInfo(from: &inside) {
                let again = same(found, { $0.append(to: &$1) }) { try NameInfo(from: &$0) }
                if let again { return again }
            }
        }
        return nil
    }

    /// The bytes behind the header as reports, which are answers' bodies.
    private static func reports(_ bytes: UnsafeRawBufferPointer) -> String? {
        var names = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[Frames.headerBytes...]))
        while let found = try? NameReport(from: &names) {
            let again = same(found, { $0.append(to: &$1) }) { try NameReport(from: &$0) }
            if let again { return again }
        }
        var others = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[Frames.headerBytes...]))
        while let found = try? ConnectionReport(from: &others) {
            let again = same(found, { $0.append(to: &$1) }) { try ConnectionReport(from: &$0) }
            if let again { return again }
        }
        return nil
    }

    private static func events(_ reader: inout ByteReader) -> String? {
        while let found = try? NotifyEvent(from: &reader) {
            let again = same(found, { $0.append(to: &$1) }) { try NotifyEvent(from: &$0) }
            if let again { return again }
        }
        return nil
    }

    private static func notice(_ frame: [UInt8]) -> String? {
        guard let found = MemoryNotice(frame: frame) else { return nil }
        guard found.number < Frames.memoriesMax,
            found.layout.bytes <= MemoryLayoutOfBus.standard.bytes
        else { return "a notice beyond the limits: \(found)" }
        return same(found, { $0.append(to: &$1) }) { try MemoryNotice(from: &$0) }
    }

    private static func read<Value>(
        _ bytes: [UInt8],
        _ body: (inout ByteReader) throws -> Value
    ) -> Value? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try? body(&reader)
        }
    }

    private static func same<Value: Equatable>(
        _ found: Value,
        _ write: (Value, inout ByteWriter) -> Void,
        _ body: (inout ByteReader) throws -> Value
    ) -> String? {
        var writer = ByteWriter()
        write(found, &writer)
        let again = read(writer.bytes, body)
        return again == found ? nil : "\(found) is read as \(String(describing: again))"
    }
}
