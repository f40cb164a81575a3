internal import Basics
internal import LinuxIO
internal import SQLite
internal import Telemetry

/// Makes a new spool of what can be read of a damaged one.
///
/// Invariants:
/// 1. Nothing in the damaged folder is written or locked: hot.db and its log are copied first, and
///    segments are opened as files that nobody changes.
/// 2. What is saved keeps its numbers: it is the same record, with the same place in every order.
/// 3. What is saved was unpacked and agreed with its checksums; nothing is guessed but names that
///    are lost, which say so.
/// 4. The new hot.db has its name when all is on the disk: before that the folder is no spool.
public struct Salvage {
    /// What was saved and what was not.
    public struct Outcome: Equatable, Sendable {
        /// Records in the new spool.
        public internal(set) var records: UInt64 = 0
        /// Batches of the hot tier in it.
        public internal(set) var hotBatches: UInt64 = 0
        /// Segments that were sound, and were copied.
        public internal(set) var wholeSegments: UInt64 = 0
        /// Segments that were written anew from what could be read of them.
        public internal(set) var mendedSegments: UInt64 = 0
        /// Records that are lost, as far as plain columns tell.
        public internal(set) var lostRecords: UInt64 = 0
        /// Batches that are lost and do not tell how many records they had.
        public internal(set) var lostBatches: UInt64 = 0
        /// Peers and kinds whose names are lost; their records have names that say so.
        public internal(set) var lostNames: UInt64 = 0
        /// What is lost, and why.
        public internal(set) var losses: [String] = []

        /// True if nothing is lost.
        public var isWhole: Bool { losses.isEmpty && lostNames == 0 }

        init() {}

        mutating func lose(_ name: BatchName, records: Int, _ cause: String) {
            losses.append("\(name): \(cause)")
            lostRecords += UInt64(max(0, records))
            if records <= 0 { lostBatches += 1 }
        }
    }

    private let spool: String
    private let folder: String
    private let isInPlace: Bool

    /// A salvage of `spool` into `folder`, which must be empty or not there.
    public init(spool: String, folder: String) {
        self.spool = spool
        self.folder = folder
        isInPlace = false
    }

    /// A salvage by whoever holds the lock of `spool`, into a folder in it: sound segments are not
    /// read, and get a second name instead of a copy.
    init(rescuing spool: String, into folder: String) {
        self.spool = spool
        self.folder = folder
        isInPlace = true
    }

    /// Saves what can be read.
    ///
    /// - Throws: where nothing can begin: no spool, one in use, a folder that is not empty, a full
    ///   disk.
    public func run() throws(SpoolError) -> Outcome {
        do {
            if !isInPlace { try check() }
            try Files.makeFolder(folder + "/seg", mode: 0o750)
            let work = folder + "/work.part"
            try Files.makeFolder(work, mode: 0o750)
            defer { Files.removeTree(work) }
            for name in ["hot.db", "hot.db-wal"] where Files.exists(spool + "/" + name) {
                try Files.copy(spool + "/" + name, to: work + "/" + name)
            }
            var outcome = Outcome()
            let part = Schema.database(folder) + ".part"
            var nameless: Set<PeerInstance> = []
            do {
                var job = try SalvageJob(
                    spool: spool,
                    folder: folder,
                    work: work,
                    part: part,
                    isInPlace: isInPlace
                )
                outcome = try job.run()
                nameless = try job.bookless()
            }
            try Files.sync(folder + "/seg")
            try Files.sync(part)
            try Files.rename(part, to: Schema.database(folder))
            try Files.sync(folder)
            try makeBooks(nameless)
            return outcome
        } catch {
            throw SpoolError("salvage spool", spool, error)
        }
    }

    private func refusal(_ cause: String, _ hint: String) -> SpoolError {
        SpoolError(operation: "salvage spool", subject: spool, cause: cause, hint: hint)
    }

    private func check() throws(SpoolError) {
        guard Files.exists(Schema.database(spool)) || Files.exists(spool + "/seg") else {
            throw refusal("neither hot.db nor segments in it", "name the folder of the spool")
        }
        if Files.isLocked(Schema.lock(spool)) {
            throw refusal("a writer has it", "stop the agent first")
        }
        if let own = FileIdentity(spool), FileIdentity(Files.parent(of: folder)) == own {
            throw refusal("'\(folder)' is in it", "choose another folder")
        }
        if Files.exists(folder), !Files.names(in: folder).isEmpty {
            throw refusal("'\(folder)' is not empty", "choose an empty folder")
        }
    }

    /// Makes books for peers whose own are lost, from their records, so that none of these is
    /// stored again when its sender offers it once more.
    private func makeBooks(_ instances: Set<PeerInstance>) throws {
        if instances.isEmpty { return }
        var books: [PeerInstance: PeerState] = [:]
        var reader = try SpoolReader(directory: folder)
        _ = try reader.forEach(Query()) { view in
            guard instances.contains(view.instance) else { return true }
            var state = books[view.instance] ?? PeerState(instance: view.instance)
            let envelope = view.envelope
            if books[view.instance] == nil { state.appeared = envelope.received }
            state.pid = view.pid
            state.uid = view.uid
            state.presence = .lost
            state.sent = max(state.sent, envelope.sequence)
            state.stored += 1
            state.accounted.insert(envelope.sequence...envelope.sequence)
            state.lastSeen = max(state.lastSeen, envelope.received)
            state.lastOrder = max(state.lastOrder, envelope.order)
            books[view.instance] = state
            return true
        }
        var writer = try SpoolWriter(directory: folder, durability: .full)
        _ = try writer.commit(SpoolCommit(peers: Array(books.values)))
    }
}
