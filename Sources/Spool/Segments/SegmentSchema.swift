internal import SQLite

/// The tables of a segment file; docs/spool-format.md has them for strangers.
///
/// It can be read without hot.db: streams and instances are in it, under the numbers that they have
/// there.
enum SegmentSchema {
    /// "intS": tells segments from other SQLite files.
    static let application: Int64 = 0x696E_7453
    /// A file with another version is not read.
    static let version: Int64 = 2

    /// Small pages: what is left of a blob's last page is lost, once a batch.
    ///
    /// There are some dozens of batches, so that an index would be larger than what it saves.
    /// `data` is the last column so that scans of the others do not walk overflow chains.
    static let tables = """
        PRAGMA page_size=1024; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
        PRAGMA locking_mode=EXCLUSIVE;
        BEGIN;
        PRAGMA application_id=\(application); PRAGMA user_version=\(version);
        CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        CREATE TABLE stream(id INTEGER PRIMARY KEY, peer TEXT NOT NULL, kind TEXT NOT NULL);
        CREATE TABLE instance(
          id INTEGER PRIMARY KEY, peer TEXT NOT NULL, epoch INT NOT NULL, pid INT NOT NULL,
          uid INT NOT NULL);
        CREATE TABLE batch(
          id INTEGER PRIMARY KEY, t0 INT NOT NULL, t1 INT NOT NULL, time0 INT NOT NULL,
          time1 INT NOT NULL, n INT NOT NULL, raw INT NOT NULL, first_store INT NOT NULL,
          last_store INT NOT NULL, fmt INT NOT NULL, streams BLOB NOT NULL, crc INT NOT NULL,
          data BLOB NOT NULL);
        CREATE TABLE words(batch INTEGER PRIMARY KEY, bloom BLOB NOT NULL);
        """

    /// What `meta` holds.
    struct Meta: Equatable {
        /// The hot batches that the segment stands for.
        var lo: Int64
        var hi: Int64
        /// A checksum of what it was made of.
        var source: Int64
    }
}
