import Testing

@testable import Commands

/// The lines of `pieces`, each with its number, and whether it was cut.
private func split(_ pieces: [String], lineBytesMax: Int = 8) -> [String] {
    var splitter = LineSplitter(lineBytesMax: lineBytesMax)
    var found: [String] = []
    func add(_ line: [UInt8]) {
        let mark = splitter.isCut ? "!" : ""
        found.append("\(splitter.number)\(mark) " + String(decoding: line, as: UTF8.self))
    }
    for piece in pieces {
        splitter.feed(Array(piece.utf8)[...])
        while let line = splitter.next() { add(line) }
    }
    if let line = splitter.rest() { add(line) }
    return found
}

@Test func linesAreTheSameHoweverTheyArrive() {
    let text = "one\n\ntwo\nthree is long\nfour\nlast"
    let wanted = ["1 one", "2 ", "3 two", "4! three is", "5 four", "6 last"]
    #expect(split([text]) == wanted)
    #expect(split(text.map(String.init)) == wanted)
    for size in 2..<9 {
        var pieces: [String] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            pieces.append(String(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        #expect(split(pieces) == wanted)
    }
}

@Test func theEndOfALineIsNoLine() {
    #expect(split([]).isEmpty)
    #expect(split(["a\n"]) == ["1 a"])
    #expect(split(["\n", "\n"]) == ["1 ", "2 "])
    #expect(split(["12345678\n"]) == ["1 12345678"])
    #expect(split(["123456789\nx\n"]) == ["1! 12345678", "2 x"])
}

@Test func whatWaitsIsCounted() {
    var splitter = LineSplitter(lineBytesMax: 100)
    #expect(splitter.isDrained && splitter.waitingBytes == 0)
    splitter.feed(Array("ab\ncd".utf8)[...])
    #expect(!splitter.isDrained && splitter.waitingBytes == 5)
    _ = splitter.next()
    #expect(splitter.waitingBytes == 2 && splitter.next() == nil)
    #expect(splitter.isDrained && splitter.waitingBytes == 2)
    splitter.restartNumbers()
    #expect(splitter.rest() == Array("cd".utf8) && splitter.number == 1)
    #expect(splitter.rest() == nil && splitter.waitingBytes == 0)
}
