/// A snapshot of one part of the machine: the kind of the record and its payload.
struct HostSample {
    /// `host.cpu` and the like.
    let kind: String
    /// JSON text.
    let payload: [UInt8]
}
