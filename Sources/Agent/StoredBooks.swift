internal import LinuxIO
internal import Spool
internal import Telemetry

/// The books as the spool has them, for what the agent does not keep in memory.
///
/// The collect thread owns it, with a connection of its own that only reads.
final class StoredBooks {
    /// How often a look-up that fails is tried.
    private static let attemptsMax = 10

    private let reader: SpoolReader

    /// Opens the spool, which must have been made.
    init(directory: String) throws(SpoolError) {
        reader = try SpoolReader(directory: directory)
    }

    /// Books with whoever was there when the agent last stopped in memory, the others here.
    ///
    /// - Throws: where the spool cannot be read. Damaged books of one peer are told, and begun anew
    ///   when it comes again.
    func open() throws(SpoolError) -> Books {
        var present: [PeerState] = []
        var others = Books.Totals()
        let damaged = try reader.forEachPeer { state in
            if state.presence == .alive || state.presence == .lost {
                present.append(state)
            } else {
                others.add(state)
            }
        }
        for instance in damaged { Self.tell(instance, "damaged") }
        return Books(present, others: others, find: find)
    }

    private func find(_ instance: PeerInstance) -> PeerState? {
        let pause = try? Wake()
        var attempts = 0
        while true {
            do throws(SpoolError) {
                return try reader.peer(instance)
            } catch {
                attempts += 1
                // A disk that hiccups is asked again; damage stays.
                if error.kind != .damaged, attempts < Self.attemptsMax {
                    pause?.wait(nanoseconds: 100_000_000)
                    continue
                }
                // At worst its records are stored a second time: better than not at all.
                Self.tell(instance, error.cause)
                return nil
            }
        }
    }

    private static func tell(_ instance: PeerInstance, _ cause: String) {
        StandardError.line("intel: read books of '\(instance)': \(cause), begun anew")
    }
}
