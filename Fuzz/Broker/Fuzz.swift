internal import FuzzEntries

/// libFuzzer's entry for the broker.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let wrong = BrokerEntry.run(input) { fatalError(wrong) }
    return 0
}
