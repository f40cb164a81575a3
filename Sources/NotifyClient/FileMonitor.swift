internal import LinuxIO
internal import NotifyProtocol

/// What may happen to a watched file; the bits of notify(3)'s `notify_monitor_file`.
///
/// The kernel's news is coarser than some of them: a write counts as a growth too, and a change of
/// attributes as one of the link count.
public struct FileChanges: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Any combination of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The name is gone.
    public static let delete = FileChanges(rawValue: 0x1)
    /// Contents were written; of a folder: its entries have changed.
    public static let write = FileChanges(rawValue: 0x2)
    /// The file has grown.
    public static let extend = FileChanges(rawValue: 0x4)
    /// Mode, owner or times have changed.
    public static let attributes = FileChanges(rawValue: 0x8)
    /// The number of names has changed.
    public static let link = FileChanges(rawValue: 0x10)
    /// The file was renamed, or another one was renamed to this name.
    public static let rename = FileChanges(rawValue: 0x20)
    /// The file system was unmounted.
    public static let revoke = FileChanges(rawValue: 0x40)
    /// Something with this name was made.
    public static let create = FileChanges(rawValue: 0x80)
    /// The time of modification has changed.
    public static let modificationTime = FileChanges(rawValue: 0x100)
    /// The time of status change has changed.
    public static let changeTime = FileChanges(rawValue: 0x200)
    /// All of them.
    public static let all = FileChanges(rawValue: 0x3ff)
}

/// The files that tokens watch: what the kernel tells, merged over 100 ms a token.
///
/// Watched are the file itself, if it is there, and its folder, or the nearest one above that
/// exists: so a path may come to be, go, and come again.
struct FileMonitor: Sendable {
    /// How long changes of one file are gathered before the token hears of them, ns.
    static let mergeTime: UInt64 = 100_000_000
    private static let news: FileWatch.Changes = [
        .modified, .attributes, .created, .deleted, .movedFrom, .movedTo, .selfMoved, .selfDeleted,
    ]

    private struct Watched {
        let path: String
        let wanted: FileChanges
        var spot: Spot
        var changes: FileChanges = []
        var due: UInt64?
    }

    /// What is watched in the kernel for one path.
    private struct Spot: Equatable {
        var folder: Int32 = -1
        /// The name in that folder which leads to the path.
        var name = ""
        /// The folder is the path's own, not one further above.
        var isParent = true
        var own: Int32 = -1

        func holds(_ watch: Int32) -> Bool { watch == folder || watch == own }
    }

    /// The kernel's end; its descriptor is readable while there is news.
    let watch: FileWatch
    private var watched: [NotifyToken: Watched] = [:]

    /// Watches nothing yet.
    init() throws(SystemError) {
        watch = try FileWatch()
    }

    /// Watches `path` for a token.
    ///
    /// - Throws: `invalidRequest` where it watches another one; `notAuthorized`, `failed`.
    mutating func add(_ token: NotifyToken, _ path: String, _ wanted: FileChanges)
        throws(NotifyStatus)
    {
        if let before = watched[token] {
            guard before.path == path else { throw .invalidRequest }
            return
        }
        do throws(SystemError) {
            watched[token] = Watched(path: path, wanted: wanted, spot: try arm(path))
        } catch {
            throw error.isDenied ? .notAuthorized : .failed
        }
    }

    /// Forgets a token.
    mutating func remove(_ token: NotifyToken) {
        guard let old = watched.removeValue(forKey: token) else { return }
        drop(old.spot)
    }

    /// Takes in what the kernel tells.
    mutating func read(now: UInt64) {
        let events = watch.events()
        for token in Array(watched.keys) {
            guard var file = watched[token] else { continue }
            let before = file.spot
            var isTouched = false
            for event in events {
                file.changes.formUnion(Self.changes(event, before))
                isTouched = isTouched || event.watch < 0 || before.holds(event.watch)
            }
            guard isTouched else { continue }
            // A watch that the kernel has ended is made again, and a folder that has come is found.
            file.spot = (try? arm(file.path)) ?? Spot()
            if before.own < 0, file.spot.own >= 0 { file.changes.insert(.create) }
            if before.own >= 0, file.spot.own < 0 { file.changes.insert(.delete) }
            file.changes.formIntersection(file.wanted)
            if !file.changes.isEmpty, file.due == nil { file.due = now + Self.mergeTime }
            watched[token] = file
            if before != file.spot { drop(before) }
        }
    }

    /// The tokens whose time has come.
    mutating func takeDue(now: UInt64) -> [NotifyToken] {
        let tokens = watched.filter { $0.value.due ?? .max <= now }.map(\.key)
        for token in tokens {
            watched[token]?.due = nil
            watched[token]?.changes = []
        }
        return tokens
    }

    /// When the next token has to hear of its changes; nil if none has.
    var nextDue: UInt64? { watched.values.compactMap(\.due).min() }

    private func arm(_ path: String) throws(SystemError) -> Spot {
        var spot = try folder(of: path)
        // What has come between the two looks is found by the second.
        while !spot.isParent {
            let again = try folder(of: path)
            if again == spot { break }
            spot = again
        }
        if spot.isParent { spot.own = (try? watch.add(path, for: Self.news)) ?? -1 }
        return spot
    }

    private func folder(of path: String) throws(SystemError) -> Spot {
        var spot = Spot(name: Files.name(of: path))
        var folder = Files.parent(of: path)
        while true {
            do throws(SystemError) {
                spot.folder = try watch.add(folder, for: Self.news)
                return spot
            } catch {
                guard error.isNotFound || error.isNoFolder, folder != "/" else { throw error }
            }
            spot.isParent = false
            spot.name = Files.name(of: folder)
            folder = Files.parent(of: folder)
        }
    }

    /// Ends the kernel's watches of a spot that nobody else needs.
    private func drop(_ spot: Spot) {
        for old in [spot.folder, spot.own] where old >= 0 {
            if !watched.values.contains(where: { $0.spot.holds(old) }) { watch.remove(old) }
        }
    }

    private static func changes(_ event: FileWatch.Event, _ spot: Spot) -> FileChanges {
        var found: FileChanges = []
        if event.watch < 0 { return .all }
        let news = event.changes
        if event.watch == spot.own {
            if !news.isDisjoint(with: [.created, .deleted, .movedFrom, .movedTo]) {
                found.formUnion([.write, .modificationTime, .changeTime])
            }
            if news.contains(.selfMoved) { found.insert(.rename) }
            if news.contains(.selfDeleted) { found.insert(.delete) }
            if news.contains(.unmounted) { found.insert(.revoke) }
        } else if event.watch == spot.folder, spot.isParent, event.name == spot.name {
            if news.contains(.created) { found.insert(.create) }
            if news.contains(.deleted) { found.insert(.delete) }
            if news.contains(.movedFrom) { found.formUnion([.delete, .rename]) }
            if news.contains(.movedTo) { found.formUnion([.create, .rename]) }
        } else {
            return found
        }
        if news.contains(.modified) {
            found.formUnion([.write, .extend, .modificationTime, .changeTime])
        }
        if news.contains(.attributes) {
            found.formUnion([.attributes, .link, .modificationTime, .changeTime])
        }
        return found
    }
}
