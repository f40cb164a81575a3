internal import InternalNotification
internal import LinuxIO
internal import Telemetry

/// `send --follow`: sends what is in the files and what is appended to them, until a signal ends
/// it.
///
/// The files are the buffer: while nobody stores, nothing more is read.
struct SendFollowing {
    /// All paths are looked at this often whatever the kernel tells, ns.
    static let sweepPause: UInt64 = 1_000_000_000

    private(set) var job: SendJob
    private let busPath: String
    private let tails: [Tail]
    private var watch: TailWatch
    /// Tails that may have news.
    private var toLookAt: Set<Int>
    /// Tails that may have bytes.
    private var toRead: Set<Int> = []
    private var nextSweep: UInt64 = 0
    private var chunk = [UInt8](
        repeating: 0,
        count: TailedFile.chunkBytes + TailedFile.overlapBytesMax
    )
    private var stall: Stall

    /// What keeps lines from being stored, and since when; boot clock, ns.
    private struct Stall {
        var stored: UInt64 = 0
        var since: UInt64
        var isTold = false
    }

    /// Follows `paths`, which are different files.
    init(_ paths: [String], _ job: SendJob, busPath: String) throws(CommandError) {
        let tails = paths.map { Tail($0) }
        var keys: Set<String> = []
        for tail in tails where !keys.insert(tail.key).inserted {
            throw CommandError("--follow: '\(tail.path)' is given twice", hint: "give it once")
        }
        self.tails = tails
        self.job = job
        self.busPath = busPath
        watch = TailWatch(tails)
        toLookAt = Set(tails.indices)
        stall = Stall(since: Clock.system.boot())
    }

    /// Runs until one of `signals` comes, and then until all that is in the files is stored.
    ///
    /// A second signal ends it at once.
    mutating func run(_ signals: borrowing Signals) throws(CommandError) {
        var poller = try calling { () throws(SystemError) in try Poller() }
        try calling { () throws(SystemError) in
            try poller.add(signals.descriptor, tag: 0)
            if let watch = watch.watch { try poller.add(watch.descriptor, tag: 1) }
        }
        var deadline: UInt64?
        while true {
            let now = Clock.system.boot()
            let isSignalled = signals.next() != nil
            lookAround(now)
            if let deadline, isSignalled || now >= deadline { return giveUp() }
            if isSignalled {
                deadline = now.addingReportingOverflow(job.timeout).partialValue
                stopAtWhatIsThere(now)
            }
            let isIdle = job.waitedForRoom() ? readSome() : false
            job.show()
            if deadline == nil { tellStall(now) }
            guard isIdle else { continue }
            if deadline != nil { break }
            let hasNews = !toLookAt.isEmpty
            try calling { () throws(SystemError) in
                try poller.wait(timeout: hasNews ? 0 : pauseMilliseconds) { _ in }
            }
        }
        sendRests()
        job.finish(busPath: busPath, isCancelled: { signals.next() != nil })
    }

    private var pauseMilliseconds: Int32 {
        job.progress.isOn && job.messenger.statistics.waiting > 0 ? 100 : 1000
    }

    /// Opens what is new under the paths, and lets go what is finished.
    private mutating func lookAround(_ now: UInt64) {
        if now >= nextSweep {
            nextSweep = now + Self.sweepPause
            toLookAt = Set(tails.indices)
            for folder in Set(tails.map(\.folder)) { watch.add(folder: folder) }
            for tail in tails { for file in tail.retire(now: now) { letGo(file, of: tail) } }
        }
        toLookAt.formUnion(watch.take())
        guard !toLookAt.isEmpty else { return }
        toRead.formUnion(toLookAt)
        var found: [(file: TailedFile, tail: Int)] = []
        for index in toLookAt.sorted() {
            if let file = probe(index, now) { found.append((file, index)) }
        }
        // What has left the paths by now, before those were opened or after, is older than they
        // are. What cannot be told yet is looked at in the next round.
        let heard = watch.take()
        guard let leavers = watch.leavers() else { return toLookAt.formUnion(heard) }
        toLookAt = heard
        for (file, index) in leavers + found where !tails[index].knows(file.identity) {
            admit(file, index)
        }
        if job.progress.isOn { countTotal() }
    }

    private mutating func probe(_ index: Int, _ now: UInt64) -> TailedFile? {
        var failures: [String] = []
        let job = job
        let file = tails[index].probe(
            now: now,
            say: { job.say($0) },
            fail: { failures.append($0) }
        )
        for failure in failures { self.job.fail(failure) }
        return file
    }

    private mutating func admit(_ file: TailedFile, _ index: Int) {
        guard tails[index].admit(file) else { return }
        watch.add(file, of: index)
        toRead.insert(index)
    }

    private mutating func letGo(_ file: TailedFile, of tail: Tail) {
        sendRest(file, tail)
        watch.remove(file)
    }

    /// Reads a piece of each file that may have news; true if there was nothing.
    private mutating func readSome() -> Bool {
        for index in toRead.sorted() {
            if !readSome(tails[index]) { toRead.remove(index) }
            if job.awaited != nil { return false }
        }
        return toRead.isEmpty
    }

    /// Reads a piece of the oldest file that has one; false if none has.
    private mutating func readSome(_ tail: Tail) -> Bool {
        for (place, file) in tail.files.enumerated() {
            // Asked before the file is read to its end: what was written before the newer file's
            // first byte is read then.
            let isSuperseded = tail.isSuperseded(place)
            if readSome(file, tail) { return true }
            guard isSuperseded else { return false }
            sendRest(file, tail)
        }
        return false
    }

    private mutating func readSome(_ file: TailedFile, _ tail: Tail) -> Bool {
        if sendLines(file, tail) { return true }
        if file.isBroken { return false }
        do throws(SystemError) {
            switch try file.read(&chunk) {
            case .end: return false
            case .bytes(let count): job.progress.bytes += count
            case .restarted:
                sendRest(file, tail)
                file.splitter.restartNumbers()
                job.say("\(tail.path) was cut or written anew, beginning at its start")
            }
        } catch {
            file.isBroken = true
            job.fail("\(tail.path): \(error)")
            return false
        }
        _ = sendLines(file, tail)
        return true
    }

    /// Sends the whole lines that were read; true if the queue is half full before they are over.
    private mutating func sendLines(_ file: TailedFile, _ tail: Tail) -> Bool {
        while job.awaited == nil {
            guard let line = file.splitter.next() else { return false }
            job.send(line, of: file.splitter, name: tail.path)
        }
        return true
    }

    /// Sends a begun line as it is, where no more of it will come.
    private mutating func sendRest(_ file: TailedFile, _ tail: Tail) {
        guard let line = file.splitter.rest() else { return }
        job.send(line, of: file.splitter, name: tail.path)
    }

    private mutating func sendRests() {
        for tail in tails { for file in tail.files { sendRest(file, tail) } }
    }

    private mutating func stopAtWhatIsThere(_ now: UInt64) {
        toLookAt = Set(tails.indices)
        lookAround(now)
        for tail in tails { for file in tail.files { file.limitToWhatIsThere() } }
    }

    private mutating func giveUp() {
        let unread = tails.flatMap(\.files).reduce(UInt64(0)) {
            $0 + $1.unreadBytes + UInt64($1.splitter.waitingBytes)
        }
        if unread > 0 { job.fail("\(unread) bytes of the files were not sent any more") }
        job.giveUp()
        job.finish(busPath: busPath)
    }

    private mutating func countTotal() {
        let unread = tails.flatMap(\.files).reduce(UInt64(0)) { $0 + $1.unreadBytes }
        job.progress.total = job.progress.bytes + unread
    }

    /// Says once that lines wait and nobody stores them, and once that it goes on.
    private mutating func tellStall(_ now: UInt64) {
        let statistics = job.messenger.statistics
        if statistics.waiting == 0 || statistics.stored != stall.stored {
            if stall.isTold { job.say("lines are stored again") }
            stall = Stall(stored: statistics.stored, since: now)
        } else if !stall.isTold, now - stall.since >= job.timeout {
            stall.isTold = true
            job.say("\(statistics.waiting) lines wait, none is being stored")
            if let why = job.whyNotStored(busPath) { job.say(why) }
        }
    }
}
