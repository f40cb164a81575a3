/// What a call of the bus answers; names and numbers are those of notify(3).
///
/// From 100 on they are this bus's own: no plain call of notify(3) ever gets `conflict` or
/// `claimExpired`.
public enum NotifyStatus: UInt32, Error, Sendable, CustomStringConvertible {
    case ok = 0
    case invalidName = 1
    case invalidToken = 2
    case invalidPort = 3
    case invalidFile = 4
    case invalidSignal = 5
    case invalidRequest = 6
    case notAuthorized = 7
    case disabled = 8
    case serverNotFound = 9
    case nullInput = 10
    /// A quota was met: this call is refused and counted, nobody else notices.
    case overQuota = 100
    /// Compare-and-set: somebody has set the state meanwhile; the answer says to what.
    case conflict = 101
    /// The deadline of the claim passed before this write; claim the name again.
    case claimExpired = 102
    case failed = 1_000_000

    /// The status in words.
    public var description: String {
        switch self {
        case .ok: "ok"
        case .invalidName: "invalid name (status 1)"
        case .invalidToken: "invalid token (status 2)"
        case .invalidPort: "invalid port (status 3)"
        case .invalidFile: "invalid file (status 4)"
        case .invalidSignal: "invalid signal (status 5)"
        case .invalidRequest: "invalid request (status 6)"
        case .notAuthorized: "not authorized (status 7)"
        case .disabled: "disabled (status 8)"
        case .serverNotFound: "no broker answers (status 9)"
        case .nullInput: "null input (status 10)"
        case .overQuota: "over quota (status 100)"
        case .conflict: "set by somebody else meanwhile (status 101)"
        case .claimExpired: "the claim has expired (status 102)"
        case .failed: "failed (status 1000000)"
        }
    }
}

/// Why an event was delivered, or why a name has no claimer any more.
public enum NotifyCause: UInt32, Sendable {
    /// Somebody posted.
    case post = 0
    /// The claimer said goodbye.
    case left = 1
    /// The claimer's connection ended without a goodbye.
    case died = 2
    /// The claimer's deadline passed.
    case expired = 3
    /// The name was claimed before the broker started again, and its claimer is not back yet.
    case unknown = 4

    /// The word that output shows.
    public var name: String {
        switch self {
        case .post: "post"
        case .left: "left"
        case .died: "died"
        case .expired: "expired"
        case .unknown: "unknown"
        }
    }
}
