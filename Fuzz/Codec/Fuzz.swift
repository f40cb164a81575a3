internal import FuzzSpool

/// libFuzzer's entry for the codec of cold batches.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let wrong = CodecEntry.run(input) { fatalError(wrong) }
    return 0
}
