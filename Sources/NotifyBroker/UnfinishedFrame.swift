internal import NotifyProtocol

/// What is left of a frame that took more than a turn.
struct UnfinishedFrame {
    /// Its bytes, kept.
    let bytes: [UInt8]
    var progress: FrameProgress
    /// Memory files that go along with its answer.
    var handouts: [RegisterMemory]
    /// How far its listing has come.
    var walk: NameWalk?
}

/// How far a frame has come.
struct FrameProgress {
    /// Operations that were not looked at yet, and where the first of them begins.
    ///
    /// All of a frame is looked at before any of it is applied.
    var unseen: Int
    var seenEnd = Frames.headerBytes
    /// Where the next operation begins, and how many are left.
    var offset = Frames.headerBytes
    var left: Int
    var answer: AnswerWriter

    init(operations: Int, answer: AnswerWriter) {
        (unseen, left) = (operations, operations)
        self.answer = answer
    }
}

/// A listing that is being looked for.
struct NameWalk {
    let page: NamePage
    /// The name to go on from; it was not looked at yet.
    var from: String
    var found: [Name] = []

    init(_ page: NamePage) {
        self.page = page
        from = NameIndex.precedes(page.prefix, page.after) ? page.after : page.prefix
    }
}
