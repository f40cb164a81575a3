internal import LinuxIO

/// Where each token's register lies, readable without a lock.
///
/// A token is an index (20 bits) and a generation (11 bits). The word at its index holds the attach
/// number (20 bits), the generation (12 bits) and the slot (32 bits); it is 0 while the token is
/// unknown or the bus away. A reader loads the word, then the register, then the word again: the
/// same word means that the register was this token's all along, even across a re-attach.
struct TokenTable: Sendable {
    static let indexBits: Int32 = 20
    static let capacity = 1 << 20
    private let words: WordTable
    /// Post count at the last check; `unseen` makes the next check true.
    private let seen: WordTable
    /// The same as plain addresses: reading through them touches no reference count.
    private let wordsAt: UInt
    private let seenAt: UInt
    static let unseen = UInt64.max

    init() throws(SystemError) {
        words = try WordTable(count: Self.capacity)
        seen = try WordTable(count: Self.capacity)
        wordsAt = words.address
        seenAt = seen.address
    }

    /// The next token with the same index: its generation is one up, and goes round before the
    /// sign bit.
    static func successor(of token: Int32) -> Int32 {
        let generation = ((token >> indexBits) + 1) & 0x7ff
        return generation << indexBits | Int32(index(token))
    }

    static func index(_ token: Int32) -> Int { Int(token) & (capacity - 1) }
    static func generation(_ token: Int32) -> UInt64 { UInt64(token >> indexBits) }

    /// The word of a token; 0 if it cannot be read now.
    @inline(__always)
    func word(_ token: Int32) -> UInt64 {
        guard token > 0 else { return 0 }
        let word = Self.load(wordsAt, token)
        return word >> 32 & 0xfff == Self.generation(token) ? word : 0
    }

    static func slot(_ word: UInt64) -> Int { Int(word & 0xffff_ffff) }

    func set(_ token: Int32, slot: Int, attach: UInt64) {
        let word = (attach & 0xf_ffff) << 44 | Self.generation(token) << 32 | UInt64(slot)
        words[Self.index(token)] = word
    }

    func clear(_ token: Int32) {
        words[Self.index(token)] = 0
    }

    @inline(__always)
    func seenPosts(_ token: Int32) -> UInt64 { Self.load(seenAt, token) }

    func setSeen(_ token: Int32, _ posts: UInt64) {
        seen[Self.index(token)] = posts
    }

    @inline(__always)
    private static func load(_ table: UInt, _ token: Int32) -> UInt64 {
        SharedWords.load(
            UnsafeRawPointer(bitPattern: table).unsafelyUnwrapped + index(token) * 8
        )
    }
}
