import Basics
import InternalNotification
import Telemetry
import Testing

@testable import Agent

/// The pipeline as a value: transfers in, a batch and the books out.
@Suite struct PipelineTests {
    private let peer = PeerInstance(identifier: "p", epoch: 1)

    private func descriptor(_ sequences: ClosedRange<UInt64>) -> TransferDescriptor {
        TransferDescriptor(
            number: 1,
            offset: 0,
            chunks: 1,
            size: 1,
            compressedSize: 1,
            crc: 0,
            isUrgent: false,
            isOldest: false,
            sequences: sequences,
            sent: sequences.upperBound,
            epoch: 1
        )
    }

    private func json(_ sequences: some Sequence<Int>, time: (Int) -> Int = { $0 }) -> [UInt8] {
        let items = sequences.map {
            #"{"seq":\#($0),"time":\#(time($0)),"kind":"k","level":"err","payload":\#($0)}"#
        }
        return Array(("[" + items.joined(separator: ",") + "]").utf8)
    }

    private func accept(_ pipeline: inout Pipeline, _ text: [UInt8], received: Int64 = 1 << 40) {
        pipeline.accept(text, descriptor(1...10), from: peer, received, 1)
    }

    @Test func everyNumberIsTakenOnce() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json(1...5))
        accept(&pipeline, json(3...8))
        #expect(pipeline.batcher.records.entries.map(\.envelope.sequence) == Array(1...8))
        #expect(pipeline.duplicates == 3)
        let state = pipeline.books[peer]
        #expect(state.sent == 8 && state.stored == 8 && state.missing == 0)
    }

    @Test func holesAreMissingUntilTheyCome() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json([1, 2, 5, 6]))
        #expect(pipeline.books[peer].missing == 2)
        #expect(pipeline.books[peer].holes == [Hole(sequences: 3...4, times: 2...5)])
        #expect(pipeline.books.accountedUpTo(peer) == 2)
        accept(&pipeline, json([4]))
        #expect(pipeline.books[peer].holes == [Hole(sequences: 3...3, times: 2...5)])
        accept(&pipeline, json([3]))
        #expect(pipeline.books[peer].missing == 0 && pipeline.books[peer].holes.isEmpty)
        #expect(pipeline.books.accountedUpTo(peer) == 6)
    }

    @Test func droppedNumbersAreInTheBooks() {
        var pipeline = Pipeline(books: Books())
        let news =
            #"[{"dropped":[1,3],"reason":"full"},"#
            + String(decoding: json([4]).dropFirst(), as: UTF8.self)
        accept(&pipeline, Array(news.utf8))
        let state = pipeline.books[peer]
        #expect(state.sent == 4 && state.stored == 1 && state.dropped == 3 && state.missing == 0)
        #expect(pipeline.batcher.losses.map(\.reason) == ["full"])
        #expect(pipeline.books.accountedUpTo(peer) == 4)
    }

    @Test func aMalformedTransferIsCountedAndItsWholePartIsKept() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json(1...3).dropLast() + Array(",{\"seq\":".utf8))
        #expect(pipeline.malformed == 1)
        let state = pipeline.books[peer]
        #expect(state.stored == 3 && state.dropped == 7 && state.missing == 0)
        #expect(pipeline.batcher.losses.first?.reason.hasPrefix("malformed transfer") == true)
    }

    @Test func whatWasGivenOutAndNeverCameIsMissing() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json(1...2))
        pipeline.books.update(peer) { Deduplicator.finish(sent: 5, time: 9, in: &$0) }
        #expect(pipeline.books[peer].missing == 3)
        #expect(pipeline.books[peer].holes == [Hole(sequences: 3...5, times: 2...9)])
    }

    @Test func aClockThatStepsBackDoesNotTurnAPeerAround() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json(1...4) { [0, 100, 50, 200, 60][$0] }, received: 1000)
        #expect(pipeline.batcher.records.entries.map(\.envelope.order) == [100, 100, 200, 200])
        #expect(pipeline.batcher.records.entries.map(\.envelope.time) == [100, 50, 200, 60])
    }

    @Test func aSenderFromTheFutureIsSortedByWhenItCame() {
        var pipeline = Pipeline(books: Books())
        accept(&pipeline, json([1]) { _ in 4_000_000_000 }, received: 1000)
        accept(&pipeline, json([2]) { _ in 1500 }, received: 2000)
        #expect(pipeline.batcher.records.entries.map(\.envelope.order) == [1000, 1500])
    }

    @Test func batchesAreSortedAcrossPeers() {
        var pipeline = Pipeline(books: Books())
        let other = PeerInstance(identifier: "q", epoch: 1)
        accept(&pipeline, json(1...3) { $0 * 10 })
        pipeline.accept(
            json(1...3) { $0 * 10 + 5 },
            descriptor(1...3),
            from: other,
            99,
            1
        )
        let (records, _) = pipeline.batcher.take()
        #expect(records.entries.map(\.envelope.order) == [10, 15, 20, 25, 30, 35])
        #expect(pipeline.batcher.bytes == 0)
    }

    @Test func holesOfOnePeerAreBounded() {
        var state = PeerState(instance: peer)
        var givenUp: [Hole] = []
        for index in 1...UInt64(Limits.holesMax) + 50 {
            _ = Deduplicator.accept(index * 2, time: 0, in: &state, givenUp: &givenUp)
        }
        #expect(state.holes.count == Limits.holesMax)
        #expect(state.sent == state.stored + state.dropped + state.missing)
        #expect(state.dropped == 50 && givenUp.count == 50)
    }

    @Test func aProcessorMayChangeARecordAndItsFailureKeepsTheOriginal() {
        struct Shout: Processor {
            mutating func process(_ record: IncomingRecord) -> IncomingRecord? {
                guard record.payload != Array("2".utf8) else { return nil }
                var changed = record
                changed.payload = Array("\"x\"".utf8)
                return changed
            }
        }
        var pipeline = Pipeline(books: Books())
        pipeline.processors = [Shout()]
        accept(&pipeline, json(1...2))
        let batch = pipeline.batcher.records
        let texts = batch.entries.map {
            String(decoding: batch.payloads[$0.payload], as: UTF8.self)
        }
        #expect(texts == ["\"x\"", "2"])
    }
}
