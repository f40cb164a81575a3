import Basics
import NotifyProtocol
import Testing

@Suite struct OperationTests {
    private static let all: [Operation] = {
        var claim = Registration(token: 7, name: "näme", delivers: true)
        claim.claims = true
        claim.reclaims = true
        claim.state = 5
        claim.will = .max
        claim.linger = 30
        claim.pool = 4096
        claim.deadline = 1500
        claim.wasClaimed = true
        claim.stateTime = 77
        claim.owner = 501
        return [
            .register(claim), .register(Registration(token: 1, name: "n")), .cancel(token: 1),
            .suspend(token: 2), .resume(token: 3), .set(token: 4, state: 1 << 63),
            .post(token: 5), .setAndPost(token: 6, state: 0), .postName("p"),
            .list(prefix: "a.", suffix: "", after: "a.b"), .inspect(token: 9), .goodbye,
            .compareAndSet(token: 1, number: .max, state: 4, posts: true), .renew(token: 3),
            .compareAndSet(token: 1, number: 0, state: 4, posts: false),
            .who(prefix: "a.", suffix: "", after: "a.b"), .connections(after: 1 << 40),
        ]
    }()

    @Test(arguments: all) func comesBack(operation: Operation) throws {
        var writer = ByteWriter()
        operation.append(to: &writer)
        #expect(writer.count % 8 == 0)
        let read = try writer.bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let found = try Operation(from: &reader)
            #expect(reader.isAtEnd)
            return found
        }
        #expect(read == operation)
    }

    @Test("an unknown operation is passed over whole, a truncated one is an error")
    func unknownAndTruncated() {
        var writer = ByteWriter()
        writer.u16(999)
        writer.u16(0)
        writer.u32(16)
        writer.u64(0)
        writer.bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let found = try? Operation(from: &reader)
            #expect(found == .unknown(999))
            #expect(reader.isAtEnd)
        }
        var whole = ByteWriter()
        for operation in Self.all { operation.append(to: &whole) }
        for count in 1..<whole.count {
            whole.bytes.prefix(count).withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                while !reader.isAtEnd, (try? Operation(from: &reader)) != nil {}
            }
        }
    }

    @Test func theStatusesHaveTheNumbersOfNotify() {
        let numbers: [NotifyStatus: UInt32] = [
            .ok: 0, .invalidName: 1, .invalidToken: 2, .invalidPort: 3, .invalidFile: 4,
            .invalidSignal: 5, .invalidRequest: 6, .notAuthorized: 7, .disabled: 8,
            .serverNotFound: 9, .nullInput: 10, .overQuota: 100, .conflict: 101,
            .claimExpired: 102, .failed: 1_000_000,
        ]
        for (status, number) in numbers { #expect(status.rawValue == number) }
    }
}
