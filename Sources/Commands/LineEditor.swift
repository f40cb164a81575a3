internal import Basics

/// One line as it is being typed: bytes from a terminal in, what to show and to do out.
///
/// It knows arrows, Home, End, Delete, Backspace, and the control letters that shells have: A, E,
/// B, F, K, U, W, P, N, C, D.
struct LineEditor {
    /// What a byte has led to.
    enum Step: Equatable {
        /// Nothing to do but to show the line anew.
        case edited
        /// The line is whole.
        case entered(String)
        /// Ctrl-C: the line is given up.
        case dropped
        /// Ctrl-D on an empty line.
        case ended
    }

    /// Bytes of a line at the most; what is typed beyond is ignored.
    static let lineBytesMax = 1 << 20

    private(set) var text: [Character] = []
    private(set) var cursor = 0
    private let history: [String]
    /// The line of the history that is shown; its count for the new one.
    private var shown: Int
    /// The new line, while one of the history is shown.
    private var draft: [Character] = []
    /// Bytes of a character or of an escape sequence that is not whole yet.
    private var pending: [UInt8] = []

    init(history: [String]) {
        self.history = history
        shown = history.count
    }

    /// Takes a byte; nil where more bytes belong to it.
    mutating func take(_ byte: UInt8) -> Step? {
        if pending.first == 0x1b { return takeEscape(byte) }
        if !pending.isEmpty || byte >= 0x80 { return takeUTF8(byte) }
        switch byte {
        case 0x0d, 0x0a: return .entered(String(text))
        case 0x03: return .dropped
        case 0x04:
            if text.isEmpty { return .ended }
            delete()
        case 0x01: cursor = 0
        case 0x05: cursor = text.count
        case 0x02: left()
        case 0x06: right()
        case 0x0b: text.removeSubrange(cursor...)
        case 0x15:
            text.removeSubrange(..<cursor)
            cursor = 0
        case 0x17: deleteWord()
        case 0x10: show(shown - 1)
        case 0x0e: show(shown + 1)
        case 0x08, 0x7f:
            if cursor > 0 {
                cursor -= 1
                text.remove(at: cursor)
            }
        case 0x09: insert(" ")
        case 0x1b:
            pending = [byte]
            return nil
        case 0x20...0x7e: insert(Character(Unicode.Scalar(byte)))
        default: break
        }
        return .edited
    }

    private mutating func takeUTF8(_ byte: UInt8) -> Step? {
        pending.append(byte)
        let length = pending.withUnsafeBytes { UTF8Text.sequenceLength($0, at: 0) }
        if length == 0, pending.count < 4, byte >= 0x80 { return nil }
        defer { pending = [] }
        if length > 0 {
            for character in String(decoding: pending, as: UTF8.self) { insert(character) }
        }
        return .edited
    }

    /// `ESC [ A` and its like; what is not known is swallowed.
    private mutating func takeEscape(_ byte: UInt8) -> Step? {
        pending.append(byte)
        if pending.count == 2 {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") { return nil }
            pending = []
            return .edited
        }
        guard (0x40...0x7e).contains(byte) || pending.count > 16 else { return nil }
        let word = String(decoding: pending.dropFirst(2), as: UTF8.self)
        pending = []
        switch word {
        case "A": show(shown - 1)
        case "B": show(shown + 1)
        case "C": right()
        case "D": left()
        case "H", "1~", "7~": cursor = 0
        case "F", "4~", "8~": cursor = text.count
        case "3~": delete()
        default: break
        }
        return .edited
    }

    private mutating func insert(_ character: Character) {
        guard text.count < Self.lineBytesMax else { return }
        text.insert(character, at: cursor)
        cursor += 1
    }

    private mutating func left() {
        cursor = max(0, cursor - 1)
    }

    private mutating func right() {
        cursor = min(text.count, cursor + 1)
    }

    private mutating func delete() {
        if cursor < text.count { text.remove(at: cursor) }
    }

    private mutating func deleteWord() {
        while cursor > 0, text[cursor - 1] == " " { eraseBefore() }
        while cursor > 0, text[cursor - 1] != " " { eraseBefore() }
    }

    private mutating func eraseBefore() {
        cursor -= 1
        text.remove(at: cursor)
    }

    private mutating func show(_ index: Int) {
        guard (0...history.count).contains(index), index != shown else { return }
        if shown == history.count { draft = text }
        shown = index
        text = index == history.count ? draft : Array(history[index])
        cursor = text.count
    }

    /// What shows the line after `prompt` on a row of `columns`: a part of it around the cursor
    /// where it does not fit.
    func display(prompt: String, columns: Int) -> String {
        let room = max(8, columns - prompt.count - 1)
        let first = max(0, cursor - room)
        let part = text[first..<min(text.count, first + room)]
        let line = "\r\u{1b}[K" + prompt + TerminalText.escaped(String(part))
        let back = part.count - (cursor - first)
        return back > 0 ? line + "\u{1b}[\(back)D" : line
    }
}
