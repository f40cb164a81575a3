internal import CZstd

/// Unpacks zstd frames whose bytes may be damaged or forged: nothing is allocated before the size
/// that the frame declares has been checked.
///
/// One thread owns it.
public struct ZstdDecompressor: ~Copyable {
    private let context: OpaquePointer

    /// A decompressor that refuses frames whose window is above 2^`windowLogMax` bytes.
    ///
    /// - Parameter checks: false where the frame's bytes were found sound by other means, so that
    ///   its own checksum of the content, a tenth of unpacking, need not be looked at.
    public init(windowLogMax: Int32 = 27, checks: Bool = true) throws(CompressionError) {
        guard let made = ZSTD_createDCtx() else { throw .outOfMemory }
        ZSTD_DCtx_setParameter(made, ZSTD_d_windowLogMax, windowLogMax)
        // ZSTD_d_forceIgnoreChecksum; a library that does not know it goes on checking.
        if !checks { ZSTD_DCtx_setParameter(made, ZSTD_d_experimentalParam3, 1) }
        context = made
    }

    deinit {
        ZSTD_freeDCtx(context)
    }

    /// The content size that the frame declares, in bytes, if that is at most `limit`.
    public static func contentSize(
        _ frame: UnsafeRawBufferPointer,
        limit: Int
    ) throws(CompressionError) -> Int {
        let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        // ZSTD_CONTENTSIZE_UNKNOWN and _ERROR, whose macros Swift does not import.
        if size == .max { throw .unknownSize }
        if size == .max - 1 { throw .damaged("no frame header") }
        if size > UInt64(max(0, limit)) { throw .tooLarge(size: size, limit: limit) }
        return Int(size)
    }

    /// Unpacks one frame into `output`, whose earlier contents go; the frame is all of `frame`.
    ///
    /// - Throws: also where the content is longer than `limit` bytes or the checksum differs.
    public func decompress(
        _ frame: UnsafeRawBufferPointer,
        limit: Int,
        into output: inout [UInt8]
    ) throws(CompressionError) {
        let size = try Self.contentSize(frame, limit: limit)
        let context = context
        var code = 0
        output = [UInt8](unsafeUninitializedCapacity: size) { room, initialized in
            code = ZSTD_decompressDCtx(
                context,
                room.baseAddress,
                size,
                frame.baseAddress,
                frame.count
            )
            initialized = ZSTD_isError(code) == 0 ? code : 0
        }
        if ZSTD_isError(code) != 0 { throw .damaged(String(cString: ZSTD_getErrorName(code))) }
        if code != size { throw .damaged("content shorter than declared") }
    }

    /// Unpacks one frame into memory that is there already.
    ///
    /// - Returns: bytes written. Throws where the content is longer than `output`, too.
    public func decompress(
        _ frame: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> Int {
        let size = try Self.contentSize(frame, limit: output.count)
        let code = ZSTD_decompressDCtx(
            context,
            output.baseAddress,
            size,
            frame.baseAddress,
            frame.count
        )
        if ZSTD_isError(code) != 0 { throw .damaged(String(cString: ZSTD_getErrorName(code))) }
        return code
    }

    /// Unpacks one frame; at most `limit` bytes.
    public func decompress(
        _ frame: UnsafeRawBufferPointer,
        limit: Int
    ) throws(CompressionError) -> [UInt8] {
        var output: [UInt8] = []
        try decompress(frame, limit: limit, into: &output)
        return output
    }
}
