/// Which known word was probably meant.
enum Spelling {
    /// The known word that is nearest to `word`; nil if none is near.
    static func nearest(_ word: String, among known: [String]) -> String? {
        // A long "word" from outside is not worth the work, nor near to anything.
        guard word.utf8.count <= 40 else { return nil }
        let scored = known.map { (word: $0, distance: distance(word, $0)) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, word.utf8.count / 3) ? best.word : nil
    }

    /// Single-letter edits (insert, delete, replace) that turn one word into the other.
    static func distance(_ left: String, _ right: String) -> Int {
        let other = Array(right.utf8)
        var row = Array(0...other.count)
        for (line, byte) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in 0..<other.count {
                let replaced = diagonal + (byte == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
