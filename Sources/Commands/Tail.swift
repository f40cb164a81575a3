internal import LinuxIO

/// A followed path: the files that it has led to and that are not finished, the oldest first.
///
/// A rotation renames the file and makes a new one under the path. The old one is read to its end
/// before anything of the new one, and stays open a little longer: whoever writes to it may not
/// have heard of the rotation yet.
final class Tail {
    /// Files of one path that are open at once.
    ///
    /// They gather where rotation goes on while nobody stores; what is rotated away beyond that
    /// number is not found again.
    static let filesMax = 64
    /// A file that has a successor is let go when it was quiet for that long, ns.
    static let rotatedQuiet: UInt64 = 5_000_000_000
    /// A file that was removed without a successor is let go when it was quiet for that long, ns:
    /// its disk space is free only then.
    static let removedQuiet: UInt64 = 60_000_000_000
    /// A path that leads nowhere for that long, ns, is told of; between the two steps of a rotation
    /// it does so for a moment.
    static let goneTold: UInt64 = 1_000_000_000

    /// As it was given.
    let path: String
    /// The folder that is watched for it.
    let folder: String
    private(set) var files: [TailedFile] = []
    /// What was told last, so that it is told once.
    private var told: String?
    /// Boot clock, ns: since when nothing is under the path.
    private var goneSince: UInt64?

    init(_ path: String) {
        self.path = path
        folder = Files.parent(of: path)
    }

    /// Its place in a folder, the same for all ways to write it with the same folder.
    var key: String { folder + "/" + Files.name(of: path) }

    /// Opens what the path leads to now.
    ///
    /// - Parameters:
    ///   - now: boot clock, ns.
    ///   - say: told what is to be known: the file is not there (yet).
    ///   - fail: told what is wrong.
    /// - Returns: the file, if it is not known yet.
    func probe(
        now: UInt64,
        say: (String) -> Void,
        fail: (String) -> Void
    ) -> TailedFile? {
        let current = FileIdentity(path)
        if let current, let place = files.firstIndex(where: { $0.identity == current }) {
            // An older one that came back is the newest again.
            files.append(files.remove(at: place))
            isFound()
            return nil
        }
        guard files.count < Self.filesMax else {
            tellOnce("\(path): \(files.count) rotated files wait, newer ones are not opened", fail)
            return nil
        }
        do throws(SystemError) {
            let opened = try TailedFile(path)
            if opened != nil { isFound() } else { tellOnce("\(path) is no plain file", fail) }
            return opened
        } catch {
            if error.isNotFound {
                tellGone(now, say)
            } else {
                tellOnce("\(error), trying again every second", fail)
            }
            return nil
        }
    }

    /// Takes a file as the newest; false where too many wait already.
    func admit(_ file: TailedFile) -> Bool {
        guard files.count < Self.filesMax else { return false }
        files.append(file)
        return true
    }

    /// True if `identity` is one of its files.
    func knows(_ identity: FileIdentity) -> Bool {
        files.contains { $0.identity == identity }
    }

    /// Takes out the files of which nothing more is expected; all that was in them has been read.
    func retire(now: UInt64) -> [TailedFile] {
        let gone = files.indices.filter { place in
            let file = files[place]
            guard file.unreadBytes == 0, file.splitter.isDrained else { return false }
            let quiet = now - min(now, file.lastNews)
            if isSuperseded(place) { return file.isBroken || quiet > Self.rotatedQuiet }
            return place == files.count - 1 && !file.hasName && quiet > Self.removedQuiet
        }
        let retired = gone.map { files[$0] }
        for place in gone.reversed() { files.remove(at: place) }
        return retired
    }

    /// True once something stands in a newer file: all older lines have been written by then.
    func isSuperseded(_ place: Int) -> Bool {
        files[(place + 1)...].contains { $0.hasData }
    }

    private func isFound() {
        told = nil
        goneSince = nil
    }

    private func tellGone(_ now: UInt64, _ say: (String) -> Void) {
        let since = goneSince ?? now
        goneSince = since
        if files.isEmpty {
            tellOnce("\(path) is not there yet, waiting for it", say)
        } else if now - since >= Self.goneTold {
            tellOnce("\(path) is gone, waiting for it", say)
        }
    }

    private func tellOnce(_ text: String, _ say: (String) -> Void) {
        if text != told { say(text) }
        told = text
    }
}
