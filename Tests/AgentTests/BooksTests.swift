import Spool
import Telemetry
import TestKit
import Testing

@testable import Agent

/// Which books stay in memory, and that those which do not are found again.
@Suite struct BooksTests {
    private func instance(_ number: Int) -> PeerInstance {
        PeerInstance(identifier: "p\(number)", epoch: 7)
    }

    /// Ten peers with a record each and one missing; the even ones have left.
    private func tenPeers(_ books: inout Books) {
        var givenUp: [Hole] = []
        for number in 0..<10 {
            books.update(instance(number)) { state in
                _ = Deduplicator.accept(2, time: 5, in: &state, givenUp: &givenUp)
                state.presence = number.isMultiple(of: 2) ? .left : .alive
                state.changed = Int64(number)
            }
        }
    }

    @Test func theLongestGoneAreLetGoFirst() {
        var books = Books()
        tenPeers(&books)
        books.letGo(downTo: 0) { _ in false }
        #expect(books.peers.count == 10, "nothing goes before it was committed")
        _ = books.takeChanges()
        books.letGo(downTo: 8) { $0 == instance(0) }
        let left = Set(books.peers.keys)
        #expect(left == Set((0..<10).map(instance)).subtracting([instance(2), instance(4)]))
        #expect(books.totals == Books.Totals(missing: 10, dropped: 0))
    }

    @Test func whoeverComesAgainIsTakenExactlyOnce() throws {
        let folder = try TemporaryFolder()
        var writer = try SpoolWriter(directory: folder.path, durability: .normal)
        var books = try StoredBooks(directory: folder.path).open()
        tenPeers(&books)
        let before = books.peers
        _ = try writer.commit(SpoolCommit(peers: books.takeChanges()))
        books.letGo(downTo: 0) { _ in false }
        #expect(books.peers.count == 5, "whoever is alive stays")
        var pipeline = Pipeline(books: books)
        var givenUp: [Hole] = []
        for number in 0..<10 {
            #expect(pipeline.books.accountedUpTo(instance(number)) == 0)
            let isNew = pipeline.books.update(instance(number)) {
                Deduplicator.accept(2, time: 5, in: &$0, givenUp: &givenUp)
            }
            #expect(!isNew)
            var expected = try #require(before[instance(number)])
            if number.isMultiple(of: 2) { expected.lastTime = nil }
            #expect(pipeline.books[instance(number)] == expected)
        }
        #expect(pipeline.books.totals == Books.Totals(missing: 10, dropped: 0))
        // The next run of the agent begins with the living alone, and knows the sums.
        let reopened = try StoredBooks(directory: folder.path).open()
        #expect(reopened.peers.count == 5 && reopened.totals.missing == 10)
    }
}
