internal import CZstd

/// Packs buffers into zstd frames (RFC 8878) that carry their content size and a checksum.
///
/// The context is kept from call to call. One thread owns it.
public struct ZstdCompressor: ~Copyable {
    let context: OpaquePointer

    /// Parameters of zstd that a level would choose; nil leaves them to it.
    public struct Tuning: Sendable {
        /// How many places are looked at for a match, as a power of two.
        public var searchLog: Int32?
        /// Entries of the table of places, as a power of two.
        public var hashLog: Int32?
        /// Bytes of a match at the least.
        public var minMatch: Int32?

        /// Parameters as given.
        public init(searchLog: Int32? = nil, hashLog: Int32? = nil, minMatch: Int32? = nil) {
            self.searchLog = searchLog
            self.hashLog = hashLog
            self.minMatch = minMatch
        }
    }

    /// A compressor of one level: 1 is fast, 19 is small.
    ///
    /// Out of range is clamped by the library.
    ///
    /// - Parameter tuning: what is to differ from the level.
    public init(level: Int32, tuning: Tuning = Tuning()) throws(CompressionError) {
        guard let made = ZSTD_createCCtx() else { throw .outOfMemory }
        ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, level)
        for (parameter, value) in [
            (ZSTD_c_searchLog, tuning.searchLog), (ZSTD_c_hashLog, tuning.hashLog),
            (ZSTD_c_minMatch, tuning.minMatch),
        ] {
            if let value { ZSTD_CCtx_setParameter(made, parameter, value) }
        }
        ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1)
        ZSTD_CCtx_setParameter(made, ZSTD_c_contentSizeFlag, 1)
        context = made
    }

    deinit {
        ZSTD_freeCCtx(context)
    }

    /// The most bytes that `count` bytes can become.
    public static func bound(_ count: Int) -> Int {
        ZSTD_compressBound(count)
    }

    /// Packs `input` into one frame at the start of `output`, which has `bound` bytes at least.
    ///
    /// - Returns: the length of the frame in bytes.
    public func compress(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> Int {
        let code = pack(input, output)
        if ZSTD_isError(code) != 0 { throw .damaged(String(cString: ZSTD_getErrorName(code))) }
        return code
    }

    /// Packs `input` into one frame and appends it.
    public func compress(
        _ input: UnsafeRawBufferPointer,
        appendingTo output: inout [UInt8]
    ) throws(CompressionError) {
        try Self.append(Self.bound(input.count), to: &output) { pack(input, $0) }
    }

    /// Appends what `body` makes in room that nobody has filled before.
    ///
    /// - Parameter body: returns how many bytes it has made, or an error of zstd.
    static func append(
        _ room: Int,
        to output: inout [UInt8],
        _ body: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(CompressionError) {
        var code = 0
        let made = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            code = body(UnsafeMutableRawBufferPointer(buffer))
            count = ZSTD_isError(code) != 0 ? 0 : code
        }
        if ZSTD_isError(code) != 0 { throw .damaged(String(cString: ZSTD_getErrorName(code))) }
        if output.isEmpty { output = made } else { output += made }
    }

    private func pack(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) -> Int {
        ZSTD_compress2(context, output.baseAddress, output.count, input.baseAddress, input.count)
    }
}
