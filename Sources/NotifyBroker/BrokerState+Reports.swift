internal import Basics
public import NotifyProtocol

/// A page of names as it is asked for.
struct NamePage {
    /// The names begin so, end so, and come after this one in the order of their bytes.
    var prefix: String
    var suffix: String
    var after: String

    func includes(_ name: String) -> Bool {
        let text = name.utf8
        return text.starts(with: prefix.utf8)
            && text.reversed().starts(with: suffix.utf8.reversed())
            // After nothing is from the start: an empty name comes before all others.
            && (after.isEmpty || after.utf8.lexicographicallyPrecedes(text))
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
        names[NameKey(text: name)].map { info($0) }
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

    /// Appends a page of names that the asker may read.
    ///
    /// Looking at all names is work that others wait for: it is taken out of the asker's posts.
    mutating func list(
        _ page: NamePage,
        isLong: Bool,
        _ connection: Connection,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        guard mayLook(at: names.count, connection, now: now) else { return .overQuota }
        var found = PageSelector(countMax: Self.entriesMax)
        for name in names.values where page.includes(name.text) {
            guard name.access.rights(of: connection.identity).contains(.read) else { continue }
            found.add(name)
        }
        let head = writer.count
        writer.u32(0)
        writer.u32(0)
        var count: UInt32 = 0
        let (sorted, isCut) = found.finish()
        for name in sorted {
            // Room for the entry, whatever its name; the rest comes with the next page.
            if writer.count + 128 + Frames.nameBytesMax > Frames.bytesMax / 2 { break }
            if isLong { report(name).append(to: &writer) } else { info(name).append(to: &writer) }
            writer.u16(UInt16(name.text.utf8.count))
            writer.text(name.text)
            writer.pad(to: 8)
            count += 1
        }
        writer.patch(u32: count, at: head)
        if isCut || count < sorted.count { writer.patch(u32: 1, at: head + 4) }
        return .ok
    }

    /// Whether a listing may look at so many names or connections.
    ///
    /// All that a frame asks for is done before anybody else's turn: after the first listing of a
    /// frame the others share a number of looks, and each is paid for as so many posts.
    private mutating func mayLook(at count: Int, _ connection: Connection, now: UInt64) -> Bool {
        looks += count
        let isFirst = looks == count
        let cost = count / Self.looksPerPost
        if isFirst || looks <= Self.looksPerFrame,
            connection.account.mayPost(cost, now: now), connection.user.mayPost(cost, now: now)
        {
            return true
        }
        connection.report.quotaHits.posts &+= 1
        return false
    }

    /// How many names a listing looks at in the time that a post takes, about.
    private static var looksPerPost: Int { 64 }
    /// Names and connections that the listings of one frame look at: half a millisecond.
    private static var looksPerFrame: Int { 1 << 12 }
    /// Names of one page at the most: the shortest ones fill half a frame.
    private static var entriesMax: Int { 512 }

    /// Appends a page of connections: all of them for user 0 and the broker's own, one's own user's
    /// for everybody else.
    mutating func listConnections(
        _ after: UInt64,
        _ asker: Connection,
        _ writer: inout ByteWriter,
        now: UInt64
    ) -> NotifyStatus {
        guard mayLook(at: connections.count, asker, now: now) else { return .overQuota }
        let isMaster = asker.identity.uid == 0 || asker.identity.uid == owner
        let countMax = Frames.bytesMax / 2 / ConnectionReport.bytes
        let found = connections.values
            .filter { $0.number > after && (isMaster || $0.identity.uid == asker.identity.uid) }
            .sorted { $0.number < $1.number }
        // Nothing else fits: a request of several such pages gets an empty one, and asks again.
        let room = max(0, (Frames.bytesMax / 2 - writer.count) / ConnectionReport.bytes)
        let page = found.prefix(min(countMax, room))
        writer.u32(UInt32(page.count))
        writer.u32(page.count < found.count ? 1 : 0)
        for connection in page {
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
        return .ok
    }
}

/// The first names in the order of their bytes, of many that come in any order.
private struct PageSelector {
    let countMax: Int
    private var found: [Name] = []
    private var bound: Name?

    init(countMax: Int) {
        self.countMax = countMax
    }

    mutating func add(_ name: Name) {
        if let bound, !Self.precedes(name, bound) { return }
        found.append(name)
        if found.count >= 4 * countMax { cut() }
    }

    private mutating func cut() {
        found.sort(by: Self.precedes)
        guard found.count > countMax else { return }
        // One more than a page: that it is there says that there is more.
        found.removeSubrange((countMax + 1)...)
        bound = found.last
    }

    mutating func finish() -> (names: ArraySlice<Name>, isCut: Bool) {
        cut()
        return (found.prefix(countMax), found.count > countMax)
    }

    private static func precedes(_ one: Name, _ two: Name) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(two.text.utf8)
    }
}
