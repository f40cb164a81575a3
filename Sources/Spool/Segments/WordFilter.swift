internal import Basics
internal import LinuxIO

/// A Bloom filter of the words of a batch: whether a word can be in it as a whole.
///
/// A token is the longest run of ASCII letters, digits, underscores and bytes above 127; a word is
/// a token of letters alone, at least three, in lower case. Where a payload has escapes, the tokens
/// of what its strings say are in it too.
///
/// Invariants:
/// 1. A word that is a token of some payload is always found.
/// 2. It says nothing of parts of words: it must not be asked for those.
struct WordFilter {
    private static let bitsPerWord = 10
    private static let hashes = 7
    private static let sumBytes = 4
    static let wordBytesMin = 3

    /// Hashes of the words, by their last bits; 0 is nothing.
    private var slots = [UInt64](repeating: 0, count: 1024)
    private var count = 0
    /// A text with its escapes resolved; kept for the next one.
    private var resolved: [UInt8] = []

    /// A filter without words.
    init() {}

    /// The words of the batch that `encoder` packed last.
    init(
        _ encoder: borrowing ColumnBatchEncoder,
        _ records: [ColumnRecord],
        _ payloads: UnsafeRawBufferPointer
    ) {
        var isAll = true
        let isKnown = encoder.forEachText { if !addTexts($0) { isAll = false } }
        if isKnown, isAll { return }
        for record in records {
            add(UnsafeRawBufferPointer(rebasing: payloads[record.payload]), isKnown: isKnown)
        }
    }

    /// True for a word that filters know.
    static func covers(_ word: ArraySlice<UInt8>) -> Bool {
        word.count >= wordBytesMin && word.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
    }

    /// True for bytes of which tokens are made.
    @inline(__always)
    static func isTokenByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x5f || byte >= 0x80
    }

    /// What each byte is: a letter, then in lower case; 1 for what tokens are made of besides, and
    /// for the mark of digits in a pattern, as what is beside it is no word; 0 for all else.
    private static let classes: [UInt8] = (0...UInt8.max).map { byte in
        if (byte | 0x20) &- 0x61 < 26 { return byte | 0x20 }
        return isTokenByte(byte) || byte == DigitPattern.marker ? 1 : 0
    }

    /// Takes in the words of a payload, as it is and with its escapes resolved.
    ///
    /// - Parameter isKnown: true where the texts of its batch have been taken in.
    mutating func add(_ payload: UnsafeRawBufferPointer, isKnown: Bool = false) {
        if !isKnown { addTokens(payload) }
        addResolved(payload)
    }

    /// Takes in the words of texts that payloads were cut into, digits taken out.
    ///
    /// - Returns: false where an escape has digits in it: what it stands for is not known here, and
    ///   the payloads themselves are to be asked.
    private mutating func addTexts(_ texts: UnsafeRawBufferPointer) -> Bool {
        addTokens(texts)
        guard let base = texts.baseAddress else { return true }
        if Self.hasNumberedEscape(texts) { return false }
        // Text by text: most have no escape.
        var at = 0
        while let hit = MemorySearch.first(0x5c, in: base + at, count: texts.count - at) {
            let escape = hit - base
            var start = escape
            while start > at, texts[start - 1] != Lanes.end { start -= 1 }
            let stop = MemorySearch.first(Lanes.end, in: hit, count: texts.count - escape)
            let end = stop.map { $0 - base } ?? texts.count
            addResolved(UnsafeRawBufferPointer(rebasing: texts[start..<end]))
            at = end
        }
        return true
    }

    private static let unicode = TextPattern("\\u")

    /// True where a text has an escape like `\u00e9`, and not only a backslash before a `u`.
    private static func hasNumberedEscape(_ texts: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while let hit = unicode.firstIndex(in: texts, from: at) {
            var start = hit
            while start > 0, texts[start - 1] == 0x5c { start -= 1 }
            if (hit - start).isMultiple(of: 2) { return true }
            at = hit + 1
        }
        return false
    }

    private mutating func addResolved(_ text: UnsafeRawBufferPointer) {
        guard let base = text.baseAddress,
            MemorySearch.first(0x5c, in: base, count: text.count) != nil
        else { return }
        var plain: [UInt8] = []
        swap(&plain, &resolved)
        plain.removeAll(keepingCapacity: true)
        TextPattern.resolve(text, into: &plain)
        plain.withUnsafeBytes { addTokens($0) }
        swap(&plain, &resolved)
    }

    private mutating func addTokens(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        Self.classes.withUnsafeBufferPointer { classes in
            var hash = Self.seed
            var length = 0
            var isWord = true
            for index in 0..<bytes.count {
                let kind = classes[Int(base[index])]
                if kind > 1 {
                    hash = (hash ^ UInt64(kind)) &* Self.prime
                    length += 1
                } else if kind == 1 {
                    isWord = false
                    length += 1
                } else if length > 0 {
                    if isWord, length >= Self.wordBytesMin { insert(hash) }
                    hash = Self.seed
                    length = 0
                    isWord = true
                }
            }
            if isWord, length >= Self.wordBytesMin { insert(hash) }
        }
    }

    private mutating func insert(_ hash: UInt64) {
        let mask = slots.count - 1
        var at = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
        while slots[at] != 0 {
            if slots[at] == hash { return }
            at = (at + 1) & mask
        }
        slots[at] = hash
        count += 1
        guard count * 2 > slots.count else { return }
        let old = slots
        slots = [UInt64](repeating: 0, count: old.count * 2)
        count = 0
        for hash in old where hash != 0 { insert(hash) }
    }

    // FNV-1a, 64 bits.
    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325
    private static let prime: UInt64 = 0x0000_0100_0000_01b3

    /// The filter as it is stored: whole bytes, 10 bits a word, and then their CRC-32C.
    ///
    /// A bit that is lost would hide a word for ever, without anybody noticing.
    func encode() -> [UInt8] {
        let bytes = (max(1, count) * Self.bitsPerWord + 7) / 8
        var filter = [UInt8](repeating: 0, count: bytes)
        for hash in slots where hash != 0 {
            Self.forEachBit(hash, bytes * 8) { filter[$0 >> 3] |= 1 << UInt8($0 & 7) }
        }
        let sum = Checksum.crc32c(filter)
        for byte in 0..<Self.sumBytes {
            filter.append(UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))))
        }
        return filter
    }

    /// The bits of a filter as it is stored; nil where they are not what was written.
    static func bits(_ stored: [UInt8]) -> [UInt8]? {
        guard stored.count > sumBytes else { return nil }
        let bits = Array(stored.dropLast(sumBytes))
        let sum = stored.suffix(sumBytes).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        return Checksum.crc32c(bits) == sum ? bits : nil
    }

    /// False if no payload has `word` as a whole; it is one that `covers`.
    ///
    /// - Parameter filter: its bits.
    static func mayHold(_ word: [UInt8], _ filter: [UInt8]) -> Bool {
        // One that is not there, or is damaged, says nothing.
        if filter.isEmpty { return true }
        var hash = seed
        for byte in word { hash = (hash ^ UInt64(byte | 0x20)) &* prime }
        var isThere = true
        forEachBit(hash, filter.count * 8) {
            if filter[$0 >> 3] & 1 << UInt8($0 & 7) == 0 { isThere = false }
        }
        return isThere
    }

    /// The bits of a word: two halves of a mixed hash, and steps of the second.
    private static func forEachBit(_ hash: UInt64, _ bits: Int, _ body: (Int) -> Void) {
        var mixed = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        mixed ^= mixed >> 33
        let step = (mixed >> 32) | 1
        var place = mixed & 0xffff_ffff
        for _ in 0..<hashes {
            body(Int(place % UInt64(bits)))
            place &+= step
        }
    }
}
