import Testing

@testable import NotifyClient

/// Tokens over a long life: a program that registers and cancels for months.
@Suite struct TokenTests {
    @Test("a token that is used again goes through all generations, and stays above zero")
    func generations() {
        for first: Int32 in [1, 77, Int32(TokenTable.capacity - 1)] {
            var token = first
            var seen: Set<Int32> = []
            for _ in 0..<5000 {
                seen.insert(token)
                token = TokenTable.successor(of: token)
                #expect(token > 0)
                #expect(TokenTable.index(token) == TokenTable.index(first))
                #expect(TokenTable.generation(token) < 1 << 11)
            }
            #expect(seen.count == 1 << 11)
        }
    }
}
