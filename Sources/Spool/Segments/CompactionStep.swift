/// The moments of one compaction, in their order: between two of them at most one thing changes on
/// the disk.
///
/// Tests end the process at each of them.
package enum CompactionStep: String, CaseIterable, Sendable, Codable {
    /// What goes into the segment has been chosen and read.
    case gathered
    /// The temporary file is there, with its tables.
    case fileMade
    /// One batch of several is in it.
    case batchWritten
    /// All is in it.
    case fileWritten
    /// It was read back and compared.
    case compared
    /// Its bytes are on the disk.
    case fileSynced
    /// It has its own name.
    case renamed
    /// The name is on the disk.
    case folderSynced
    /// In the transaction: the segment is listed.
    case listed
    /// In the transaction: its batches are deleted from the hot tier.
    case deleted
    /// The transaction is committed.
    case committed
    /// The segment that was joined with it is unlinked.
    case unlinked
    /// Nothing is left to do.
    case done
}
