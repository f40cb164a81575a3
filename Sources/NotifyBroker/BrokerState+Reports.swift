internal import Basics
public import NotifyProtocol

/// A page of names as it is asked for.
struct NamePage {
    /// The names begin so, end so, and come after this one in the order of their bytes.
    var prefix: String
    var suffix: String
    var after: String

    /// Whether a name comes after `after`, and ends so; after nothing is from the start: an empty
    /// name comes before all others.
    func includes(_ name: String) -> Bool {
        let text = name.utf8
        return text.count >= suffix.utf8.count
            && text.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            && (after.isEmpty || NameIndex.precedes(after, name))
    }
}

/// What the broker tells of itself.
extension BrokerState {
    func info(_ name: Name) -> NameInfo {
        var info = NameInfo()
        info.memory = name.memory.number
        info.owner = name.memory.readers?.uid ?? 0
        info.slot = name.slot
        info.poolBase = name.poolBase
        info.poolCount = name.poolCount
        info.cause = name.cause
        info.state = name.memory.state(of: name.slot)
        info.stateNumber = name.stateNumber
        info.posts = name.memory.posts(of: name.slot)
        if let claim = name.claim {
            info.connection = claim.lingersUntil == nil ? claim.connection : 0
            info.pid = claim.identity.pid
            info.uid = claim.identity.uid
        }
        return info
    }

    /// What the broker knows of a name; nil if there is none.
    public func information(_ name: String) -> NameInfo? {
        names[name].map { info($0) }
    }

    private func report(_ name: Name) -> NameReport {
        NameReport(
            info: info(name),
            registrations: UInt32(clamping: name.listeners.count + name.others.count),
            subscribers: UInt32(clamping: name.listeners.count),
            waiting: UInt32(clamping: name.waiting),
            deadline: UInt32(clamping: (name.claim?.deadline ?? 0) / 1_000_000),
            merged: name.merged,
            endsAt: name.claim?.endsAt ?? 0
        )
    }

    /// Appends a page of names that the asker may read; nil if it is to go on in another turn.
    mutating func list(
        _ page: NamePage,
        isLong: Bool,
        _ connection: Connection,
        _ writer: inout ByteWriter
    ) -> NotifyStatus? {
        var found = walk ?? NameWalk(page)
        walk = nil
        guard look(&found, connection.identity) else {
            walk = found
            return nil
        }
        let head = writer.count
        writer.u32(0)
        writer.u32(0)
        var count = 0
        // One that has gone since it was found is told of no more.
        let page = found.found.filter { names[$0.text] === $0 }
        for name in page.prefix(Self.entriesMax) {
            // Room for the entry, whatever its name; the rest comes with the next page.
            if writer.count + 128 + Frames.nameBytesMax > Frames.bytesMax / 2 { break }
            if isLong { report(name).append(to: &writer) } else { info(name).append(to: &writer) }
            writer.u16(UInt16(name.text.utf8.count))
            writer.text(name.text)
            writer.pad(to: 8)
            count += 1
        }
        spend(count * Work.entry)
        writer.patch(u32: UInt32(count), at: head)
        if count < page.count || found.found.count > Self.entriesMax {
            writer.patch(u32: 1, at: head + 4)
        }
        return .ok
    }

    /// Looks for the names of a page, and one more, which says that there are more; false if it is
    /// to go on in another turn.
    private mutating func look(_ found: inout NameWalk, _ asker: Identity) -> Bool {
        // At least one, whatever is left: every turn comes further.
        var left = max(1, workLeft)
        var isDone = true
        let page = found.page
        names.walk(from: found.from) { name in
            guard name.text.utf8.starts(with: page.prefix.utf8) else { return false }
            if left <= 0 {
                found.from = name.text
                isDone = false
                return false
            }
            left -= Work.least
            guard page.includes(name.text), name.access.rights(of: asker).contains(.read) else {
                return true
            }
            found.found.append(name)
            return found.found.count <= Self.entriesMax
        }
        workLeft = left
        return isDone
    }

    /// Names of one page at the most: a turn's work.
    private static var entriesMax: Int { 128 }

    /// Appends a page of connections: all of them for user 0 and the broker's own, one's own user's
    /// for everybody else.
    mutating func listConnections(
        _ after: UInt64,
        _ asker: Connection,
        _ writer: inout ByteWriter
    ) -> NotifyStatus {
        let isMaster = asker.identity.uid == 0 || asker.identity.uid == owner
        let head = writer.count
        writer.u32(0)
        writer.u32(0)
        var count = 0
        let first = firstConnection(after: after)
        for connection in inOrder[first...] {
            guard isMaster || connection.identity.uid == asker.identity.uid else { continue }
            // Nothing else fits: a request of several such pages gets an empty one, and asks again.
            guard count < Self.entriesMax,
                writer.count + ConnectionReport.bytes <= Frames.bytesMax / 2
            else {
                writer.patch(u32: 1, at: head + 4)
                break
            }
            append(connection, to: &writer)
            count += 1
        }
        spend(count * Work.entry + (inOrder.count - first) / Work.connectionsPerUnit)
        writer.patch(u32: UInt32(count), at: head)
        return .ok
    }

    private func append(_ connection: Connection, to writer: inout ByteWriter) {
        var report = connection.report
        report.number = connection.number
        report.pid = connection.identity.pid
        report.uid = connection.identity.uid
        report.gid = connection.identity.gid
        report.registrations = UInt32(clamping: connection.registrations.count)
        report.waiting = UInt32(clamping: connection.held)
        report.malformed = malformed[connection.identity.uid] ?? 0
        report.poolWords = UInt64(connection.account.poolWords)
        report.append(to: &writer)
    }

    /// The place of the first connection with a number above `number`.
    func firstConnection(after number: UInt64) -> Int {
        var (low, high) = (0, inOrder.count)
        while low < high {
            let middle = (low + high) / 2
            if inOrder[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
