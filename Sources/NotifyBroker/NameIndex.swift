/// All names, by their text and in the order of their bytes.
///
/// 1. A name stands in `byText` and in exactly one chunk.
/// 2. No chunk is empty or longer than `chunkMax`; each is in order, and so are they.
struct NameIndex {
    private static let chunkMax = 512
    private var byText: [NameKey: Name] = [:]
    private var chunks: [[Name]] = []

    subscript(text: String) -> Name? { byText[NameKey(text: text)] }

    /// Adds a name whose text is not there yet.
    mutating func insert(_ name: Name) {
        byText[NameKey(text: name.text)] = name
        guard !chunks.isEmpty else { return chunks.append([name]) }
        let chunk = max(0, firstChunk(after: name.text) - 1)
        chunks[chunk].insert(name, at: Self.place(of: name.text, in: chunks[chunk]))
        guard chunks[chunk].count > Self.chunkMax else { return }
        let half = chunks[chunk].suffix(Self.chunkMax / 2)
        chunks[chunk].removeLast(half.count)
        chunks.insert(Array(half), at: chunk + 1)
    }

    mutating func remove(_ name: Name) {
        guard byText.removeValue(forKey: NameKey(text: name.text)) != nil else { return }
        let chunk = max(0, firstChunk(after: name.text) - 1)
        let place = Self.place(of: name.text, in: chunks[chunk])
        guard place < chunks[chunk].count, chunks[chunk][place] === name else { return }
        chunks[chunk].remove(at: place)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// Calls `body` for the names from `text` on, in order, until it says false.
    func walk(from text: String, _ body: (Name) -> Bool) {
        var chunk = max(0, firstChunk(after: text) - 1)
        guard chunk < chunks.count else { return }
        var place = Self.place(of: text, in: chunks[chunk])
        while chunk < chunks.count {
            while place < chunks[chunk].count {
                guard body(chunks[chunk][place]) else { return }
                place += 1
            }
            chunk += 1
            place = 0
        }
    }

    /// The first chunk that begins after `text`.
    private func firstChunk(after text: String) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(text, chunks[middle][0].text) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// The place of the first name in a chunk that does not come before `text`.
    private static func place(of text: String, in chunk: [Name]) -> Int {
        var (low, high) = (0, chunk.count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(chunk[middle].text, text) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The order of bytes: that of Swift's strings is another.
    static func precedes(_ one: String, _ other: String) -> Bool {
        let (left, right) = (one.utf8.span, other.utf8.span)
        let count = min(left.count, right.count)
        for index in 0..<count where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}
