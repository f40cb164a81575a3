import Compression
import SQLite
import Testing

@Suite struct WrapperTests {
    @Test func zstdRoundTripAndLimits() throws {
        let compressor = try ZstdCompressor(level: 1)
        let decompressor = try ZstdDecompressor()
        let text = Array(String(repeating: "order created ", count: 5_000).utf8)
        var frame: [UInt8] = [1, 2]
        try text.withUnsafeBytes { try compressor.compress($0, appendingTo: &frame) }
        frame.removeFirst(2)
        #expect(frame.count < text.count / 20)
        let back = try frame.withUnsafeBytes { try decompressor.decompress($0, limit: text.count) }
        #expect(back == text)
        #expect(throws: CompressionError.tooLarge(size: UInt64(text.count), limit: 100)) {
            try frame.withUnsafeBytes { try decompressor.decompress($0, limit: 100) }
        }
        var changed = frame
        changed[changed.count - 1] ^= 1
        #expect(throws: CompressionError.self) {
            try changed.withUnsafeBytes { try decompressor.decompress($0, limit: text.count) }
        }
        #expect(throws: CompressionError.self) {
            try [UInt8]().withUnsafeBytes { try decompressor.decompress($0, limit: 10) }
        }
        // The contexts are as good as new after a failure.
        #expect(
            try frame.withUnsafeBytes { try decompressor.decompress($0, limit: text.count) } == text
        )
    }

    @Test func sqliteTypesAndErrors() throws {
        let database = try Database(path: ":memory:", mode: .create)
        try database.execute("CREATE TABLE t(i INT, s TEXT NOT NULL, b BLOB NOT NULL)")
        let insert = try database.prepare("INSERT INTO t VALUES(?,?,?)")
        try insert.bind(1, Int64.min)
        try insert.bind(2, "")
        try insert.bind(3, [UInt8]())
        try insert.run()
        try insert.bindNull(1)
        try insert.bind(2, "a\u{0}ü")
        try insert.bind(3, [0, 255])
        try insert.run()
        let rows = try database.prepare("SELECT i, s, b FROM t ORDER BY rowid")
        #expect(try rows.step())
        #expect(rows.integer(0) == .min)
        #expect(rows.text(1) == "")
        #expect(rows.blob(2) == [])
        #expect(try rows.step())
        #expect(rows.isNull(0) == true)
        #expect(rows.text(1) == "a\u{0}ü")
        #expect(rows.blob(2) == [0, 255])
        #expect(try !rows.step())
        let error = #expect(throws: SQLiteError.self) { try database.execute("SELEC 1") }
        #expect(error?.code == 1)
        #expect(error?.sql == "SELEC 1")
    }
}
