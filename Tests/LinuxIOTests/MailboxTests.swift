import LinuxIO
import Synchronization
import Testing

@Suite struct MailboxTests {
    @Test func keepsOrderAndBound() {
        let box = Mailbox<Int>(capacity: 3)
        #expect((1...5).map { box.trySend($0) } == [true, true, true, false, false])
        #expect(box.count == 3)
        #expect(box.receive(nanoseconds: 0) == 1)
        #expect(box.trySend(6))
        #expect((0..<4).map { _ in box.receive(nanoseconds: 0) } == [2, 3, 6, nil])
    }

    @Test func refusesOnceClosedButGivesWhatItHolds() {
        let box = Mailbox<Int>(capacity: 3)
        #expect(box.trySend(1))
        box.close()
        #expect(box.isClosed)
        #expect(!box.trySend(2))
        #expect(box.receive() == 1)
        // For ever would be too long: each of these comes back at once.
        for _ in 0..<3 { #expect(box.receive() == nil) }
    }

    @Test func waitsNoLongerThanTold() {
        let box = Mailbox<Int>(capacity: 1)
        let before = Clock.system.boot()
        #expect(box.receive(nanoseconds: 20_000_000) == nil)
        #expect(Clock.system.boot() - before >= 19_000_000)
    }

    @Test func wakesAReceiver() throws {
        let box = Mailbox<Int>(capacity: 1)
        let came = Mutex<[Int?]>([])
        let thread = try OwnedThread("receiver") {
            for _ in 0..<2 {
                let message = box.receive()
                came.withLock { $0.append(message) }
            }
        }
        #expect(box.trySend(1))
        box.close()
        thread.join()
        #expect(came.withLock { $0 } == [1, nil])
    }

    @Test func losesNothingOfManySenders() throws {
        let box = Mailbox<Int>(capacity: 16)
        let threads = try (0..<4).map { sender in
            try OwnedThread("sender-\(sender)") {
                var next = sender * 1000
                while next < sender * 1000 + 1000 {
                    if box.trySend(next) { next += 1 } else { _ = Clock.system.boot() }
                }
            }
        }
        var found: [Int] = []
        while found.count < 4000, let number = box.receive(nanoseconds: 10 * second) {
            found.append(number)
        }
        for thread in threads { thread.join() }
        #expect(found.sorted() == Array(0..<4000))
        for sender in 0..<4 {
            let own = found.filter { $0 / 1000 == sender }
            #expect(own == own.sorted(), "sender \(sender)")
        }
    }
}
