internal import CZstd

extension ZstdCompressor {
    /// Packs `input` into one frame that begins a new block at each of `cuts`.
    ///
    /// Each block has Huffman tables of its own, so that stretches whose bytes are spread
    /// differently each get the table that suits them.
    ///
    /// - Parameter cuts: rising offsets into `input`; others are left out.
    public func compress(
        _ input: UnsafeRawBufferPointer,
        cuts: [Int],
        appendingTo output: inout [UInt8]
    ) throws(CompressionError) {
        let room = Self.bound(input.count) + (cuts.count + 1) * 32
        try Self.append(room, to: &output) { packBlocks(input, cuts, $0) }
    }

    private func packBlocks(
        _ input: UnsafeRawBufferPointer,
        _ cuts: [Int],
        _ output: UnsafeMutableRawBufferPointer
    ) -> Int {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        ZSTD_CCtx_setPledgedSrcSize(context, UInt64(input.count))
        var source = ZSTD_inBuffer(src: input.baseAddress, size: 0, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        for cut in cuts where cut > source.pos && cut < input.count {
            source.size = cut
            let code = ZSTD_compressStream2(context, &target, &source, ZSTD_e_flush)
            if ZSTD_isError(code) != 0 { return code }
        }
        source.size = input.count
        let code = ZSTD_compressStream2(context, &target, &source, ZSTD_e_end)
        return ZSTD_isError(code) != 0 ? code : target.pos
    }
}
