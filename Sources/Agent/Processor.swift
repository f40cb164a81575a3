internal import Telemetry

/// A record on its way in, before it has a place: what a processor may change.
struct IncomingRecord {
    var instance: PeerInstance
    var kind: String
    var level: Level
    var payload: [UInt8]
}

/// The stage before storing: decrypt, redact, enrich.
///
/// None exists yet; the pipeline calls whatever is in its list, in order, and keeps the record as
/// it was where a processor returns nil.
protocol Processor {
    mutating func process(_ record: IncomingRecord) -> IncomingRecord?
}
