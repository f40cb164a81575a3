internal import LinuxIO

/// Says which followed paths are worth a look.
///
/// Where the kernel gives no watches (their number is limited), the look once a second is left.
struct TailWatch {
    /// Where a file lies by now that was under a followed path for a moment.
    struct Place {
        /// Its last name.
        var path: String
        let tail: Int
        /// Files that left the path earlier have lower ones.
        let number: Int
        /// Opened under that name; it is the right one if no rename of it is found afterwards.
        var file: TailedFile?
        var attempts = 0
    }

    /// A place that cannot be opened so many times is given up.
    static let attemptsMax = 64

    /// nil where the kernel gave none.
    let watch: FileWatch?
    private let tailsByKey: [String: Int]
    private var folders: [Int32: String] = [:]
    private var files: [Int32: Int] = [:]
    /// Files on their way from one name to the next, by the cookies of the renames.
    private var inTransit: [UInt32: Place] = [:]
    private var places: [Place] = []
    private var placesSoFar = 0
    /// Tails that something has happened to.
    private var news: Set<Int> = []

    init(_ tails: [Tail]) {
        watch = try? FileWatch()
        tailsByKey = Dictionary(
            zip(tails.map(\.key), tails.indices),
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Watches a folder, if it is there; one that is watched already is fine.
    mutating func add(folder: String) {
        let wanted: FileWatch.Changes = [.created, .deleted, .movedFrom, .movedTo]
        if let number = try? watch?.add(folder, for: wanted) { folders[number] = folder }
    }

    /// Watches a file that belongs to a tail.
    mutating func add(_ file: TailedFile, of tail: Int) {
        let wanted: FileWatch.Changes = [.modified, .attributes, .selfMoved, .selfDeleted]
        file.watch = try? watch?.add(opened: file.raw, for: wanted)
        if let number = file.watch { files[number] = tail }
    }

    /// Ends the watch of a file.
    mutating func remove(_ file: TailedFile) {
        guard let number = file.watch else { return }
        watch?.remove(number)
        files[number] = nil
        file.watch = nil
    }

    /// Numbers of the tails that something has happened to since the last call; does not wait.
    mutating func take() -> Set<Int> {
        hear()
        defer { news = [] }
        return news
    }

    private mutating func hear() {
        let events = watch?.events() ?? []
        // The second half of a rename follows on the first, unless it led out of the folder.
        if !events.isEmpty, inTransit.count > Self.attemptsMax { inTransit = [:] }
        for event in events {
            if event.changes.contains(.overflow) { news = Set(tailsByKey.values) }
            if event.changes.contains(.ended) {
                folders[event.watch] = nil
                files[event.watch] = nil
            } else if let tail = files[event.watch] {
                news.insert(tail)
            } else if let folder = folders[event.watch] {
                let path = folder + "/" + event.name
                if let tail = tailsByKey[path] { news.insert(tail) }
                follow(event, path)
            }
        }
    }

    /// Follows a file from a followed path through its renames: where two rotations come faster
    /// than we look, it is found under its last name.
    private mutating func follow(_ event: FileWatch.Event, _ path: String) {
        let known = places.firstIndex { $0.path == path }
        if event.changes.contains(.movedFrom) {
            if let known {
                inTransit[event.cookie] = places.remove(at: known)
            } else if let tail = tailsByKey[path] {
                placesSoFar += 1
                inTransit[event.cookie] = Place(path: path, tail: tail, number: placesSoFar)
            }
        } else if event.changes.contains(.movedTo) || event.changes.contains(.deleted) {
            // What had this name before is gone.
            if let known { places.remove(at: known) }
            guard event.changes.contains(.movedTo),
                var place = inTransit.removeValue(forKey: event.cookie)
            else { return }
            place.path = path
            place.file = nil
            places.append(place)
        }
    }

    /// Opens what has left the followed paths.
    ///
    /// - Returns: the files with their tails, oldest first; nil while renames go on too fast to
    ///   tell which is which: come again.
    mutating func leavers() -> [(file: TailedFile, tail: Int)]? {
        for _ in 0..<8 {
            for index in places.indices where places[index].file == nil {
                places[index].file = try? TailedFile(places[index].path)
                places[index].attempts += 1
            }
            places.removeAll { $0.file == nil && $0.attempts > Self.attemptsMax }
            if !places.isEmpty { hear() }
            guard places.allSatisfy({ $0.file != nil }) else { continue }
            defer { places = [] }
            return places.sorted { $0.number < $1.number }.compactMap { place in
                place.file.map { ($0, place.tail) }
            }
        }
        return nil
    }
}
