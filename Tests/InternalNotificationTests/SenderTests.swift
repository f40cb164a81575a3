import Basics
import Telemetry
import Testing

@testable import InternalNotification

@Suite struct OutboxTests {
    private func filled(_ count: Int) -> Outbox {
        var outbox = Outbox()
        for _ in 0..<count { _ = outbox.append(Array("{}".utf8)) }
        return outbox
    }

    @Test func batchesGoOnWhereTheLastOneEnded() throws {
        var outbox = filled(5)
        let first = try #require(outbox.batch(bytesMax: 1000, countMax: 2))
        #expect(first.sequences == 1...2)
        #expect(String(decoding: first.json, as: UTF8.self) == "[{},{}]")
        outbox.markSent(first.sequences)
        #expect(outbox.batch(bytesMax: 1000, countMax: 10)?.sequences == 3...5)
    }

    @Test func whatIsStoredIsForgottenAndTheRestIsSentAgain() {
        var outbox = filled(5)
        outbox.markSent(1...5)
        #expect(outbox.batch(bytesMax: 1000, countMax: 10) == nil)
        outbox.acknowledge(3)
        outbox.rewind()
        #expect(outbox.batch(bytesMax: 1000, countMax: 10)?.sequences == 4...5)
        outbox.acknowledge(99)
        #expect(outbox.isAllStored && outbox.stored == 5 && outbox.next == 6)
    }

    @Test func beyondTheLimitTheOldestGoAndAreTold() throws {
        var outbox = filled(Limits.queueMessagesMax + 3)
        #expect(outbox.count == Limits.queueMessagesMax)
        #expect(outbox.droppedCount == 3)
        let batch = try #require(outbox.batch(bytesMax: 100, countMax: 1))
        #expect(batch.sequences == 4...4)
        let text = String(decoding: batch.json, as: UTF8.self)
        #expect(text == #"[{"dropped":[1,3],"reason":"sender queue full"},{}]"#)
        outbox.acknowledge(4)
        #expect(outbox.dropped.isEmpty)
    }

    @Test func aMessageLargerThanTheTargetStillGoes() {
        var outbox = Outbox()
        _ = outbox.append([UInt8](repeating: 0x20, count: 5000))
        _ = outbox.append([0x31])
        #expect(outbox.batch(bytesMax: 100, countMax: 10)?.sequences == 1...1)
    }
}

@Suite struct RingLedgerTests {
    @Test func withoutACollectorTheOldestAreOverwritten() {
        var ring = RingLedger(registers: 10)
        let places = (1...3).map { ring.place(chunks: 4, first: $0, taken: nil) }
        #expect(places.map { $0?.offset } == [0, 4, 8])
        #expect(places.map { $0?.number } == [1, 2, 3])
        #expect(ring.tail == 2)
    }

    @Test func withACollectorNothingUntakenIsOverwritten() {
        var ring = RingLedger(registers: 10)
        _ = ring.place(chunks: 6, first: 1, taken: 0)
        let refused = ring.place(chunks: 6, first: 2, taken: 0)
        #expect(refused == nil && ring.head == 1)
        let granted = ring.place(chunks: 6, first: 2, taken: 1)
        #expect(granted?.number == 2)
        let tooLong = ring.place(chunks: 11, first: 3, taken: 2)
        #expect(tooLong == nil)
    }

    @Test func theDescriptorTableBoundsTheTransfers() {
        var ring = RingLedger()
        for index in 1...UInt64(Limits.transfersMax) {
            let place = ring.place(chunks: 1, first: index, taken: 0)
            #expect(place?.number == index)
        }
        let refused = ring.place(chunks: 1, first: 99, taken: 0)
        #expect(refused == nil)
        let granted = ring.place(chunks: 1, first: 99, taken: 1)
        #expect(granted != nil)
    }

    @Test func whatWaitsToBeTakenIsCountedInBytesAndTransfers() {
        var ring = RingLedger(registers: 100)
        #expect(ring.freeQuarters(taken: 0) == 4)
        for first in 1...26 as ClosedRange<UInt64> {
            _ = ring.place(chunks: 1, first: first, taken: 0)
        }
        #expect(ring.freeQuarters(taken: 0) == 2 && ring.freeQuarters(taken: 26) == 4)
        _ = ring.place(chunks: 30, first: 27, taken: 0)
        #expect(ring.freeQuarters(taken: 0) == 1 && ring.freeQuarters(taken: 26) == 2)
    }

    @Test func afterAResetNumbersGoOn() {
        var ring = RingLedger()
        _ = ring.place(chunks: 1, first: 1, taken: 0)
        ring.reset()
        #expect(ring.tail == 2)
        let place = ring.place(chunks: 1, first: 1, taken: 0)
        #expect(place?.number == 2 && place?.offset == 0)
    }
}

@Suite struct WireTests {
    @Test func descriptorsComeBack() {
        let made = TransferDescriptor(
            number: 7,
            offset: 4000,
            chunks: 200,
            size: 99_999,
            compressedSize: 1600,
            crc: 0xdead_beef,
            isUrgent: true,
            isOldest: true,
            sequences: 10...20,
            sent: 25,
            epoch: 9
        )
        #expect(TransferDescriptor(words: made.words, ring: 4096) == made)
        var broken = made.words
        broken[1] = 5000 << 32 | 1
        #expect(TransferDescriptor(words: broken, ring: 4096) == nil)
        broken = made.words
        broken[5] = 1
        #expect(TransferDescriptor(words: broken, ring: 4096) == nil)
    }

    @Test(arguments: ["com.vendor.pos", "ä", String(repeating: "x", count: 255)])
    func identitiesComeBack(identifier: String) {
        let identity = Identity(identifier: identifier, apikey: "team|1")
        #expect(Identity(registers: identity.registers) == identity)
    }

    @Test func anIdentityWithoutAnIdentifierIsNone() {
        #expect(Identity(registers: []) == nil)
        #expect(Identity(registers: [0]) == nil)
        #expect(Identity(registers: Identity(identifier: "", apikey: "k").registers) == nil)
    }

    @Test func messagesComeBackByteForByte() throws {
        let texts = ["1.0", "{ \"a\" : [1 , 2] }", "\"\\u0000\"", "[]", "\"😀\"", "1e400"]
        var json: [UInt8] = [UInt8(ascii: "[")]
        for (index, text) in texts.enumerated() {
            var message = try INMessage(kind: "k\"\(index)", json: Array(text.utf8), level: .error)
            message.sequence = UInt64(index + 1)
            message.time = -5
            if index > 0 { json.append(UInt8(ascii: ",")) }
            MessageCodec.append(message, boot: 9, to: &json)
        }
        json.append(UInt8(ascii: "]"))
        var read: [(kind: String, payload: String)] = []
        json.withUnsafeBytes { bytes in
            try? MessageCodec.forEach(bytes) { element in
                guard case .message(let wire) = element else { return }
                #expect(wire.time == -5 && wire.boot == 9 && wire.level == .error)
                read.append((wire.kind, String(decoding: bytes[wire.payload], as: UTF8.self)))
            }
        }
        #expect(read.map(\.payload) == texts)
        #expect(read.map(\.kind) == texts.indices.map { "k\"\($0)" })
    }

    @Test(arguments: [
        "", "{}", "[{}]", "[{\"seq\":1}]", "[{\"seq\":-1,\"kind\":\"k\",\"payload\":1}]",
        "[{\"seq\":99999999999999999999,\"kind\":\"k\",\"payload\":1}]", "[{\"dropped\":[2,1]}]",
        "[{\"seq\":1,\"kind\":\"\",\"payload\":1}]",
    ])
    func malformedTransfersAreRefused(text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            var fault: JSONFault?
            do throws(JSONFault) {
                try MessageCodec.forEach(bytes) { _ in }
            } catch {
                fault = error
            }
            #expect(fault != nil)
        }
    }

    @Test func nanIsRefusedByItsKey() {
        let message = INMessage(kind: "k", payload: ["a": ["b": .double(.nan)]])
        #expect(message.fault?.description.contains("payload.a.b") == true)
    }

    @Test func valuesKeepOrderDuplicatesAndDigits() {
        let text = #"{"b":18446744073709551615,"a":1.0,"a":[true,null,"x\ny"]}"#
        let message = try? INMessage(kind: "k", json: Array(text.utf8))
        #expect(message?.payload["b"] == .number("18446744073709551615"))
        #expect(message?.payload["a"] == .array([.bool(true), .null, .string("x\ny")]))
    }
}
