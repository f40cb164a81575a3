internal import Basics

/// Something that a writer found damaged when it opened a spool, and what became of it.
public struct SpoolFinding: Equatable, Sendable, CustomStringConvertible {
    /// What is damaged, and how: `batch 7: checksum differs`.
    public internal(set) var what: String
    /// Records that are lost with it; nil where nobody can tell.
    public internal(set) var records: UInt64?
    /// Bounds of their times, ns since 1970; nil where nobody can tell.
    public internal(set) var times: ClosedRange<Int64>?
    /// The folder below the spool's where the damaged bytes are now; nil where they stay.
    public internal(set) var aside: String?

    /// `batch 7: checksum differs, 20 records are lost, of 2026-… to 2026-…`.
    public var description: String {
        var text = what
        switch records {
        case .some(0): text += ", no record is lost"
        case .some(let count): text += ", \(count) records are lost"
        case nil: text += ", how many records are lost is not known"
        }
        if let times {
            text += ", of \(Self.stamp(times.lowerBound)) to \(Self.stamp(times.upperBound))"
        }
        if let aside { text += "; what was damaged is in '\(aside)'" }
        return text
    }

    /// The payload of a record that tells of it; `records` is null where nobody can tell.
    public var json: [UInt8] {
        var object = ObjectWriter()
        object.add("what", what)
        if let records {
            object.add("records", records)
        } else {
            object.add("records", json: Array("null".utf8))
        }
        if let times {
            object.add("earliest", Self.stamp(times.lowerBound))
            object.add("latest", Self.stamp(times.upperBound))
        }
        if let aside { object.add("aside", aside) }
        return object.finished
    }

    private static func stamp(_ time: Int64) -> String {
        var text: [UInt8] = []
        CivilTime.appendRFC3339(time, to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
