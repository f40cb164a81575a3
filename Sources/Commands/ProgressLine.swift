internal import LinuxIO

/// One line of stderr that is rewritten in place: `1.2 MB of 96 MB · 1,204 lines sent · 1,100
/// stored`.
///
/// Whatever else goes to stderr meanwhile goes through `say`, so that the two never mix. One
/// thread owns it.
final class ProgressLine {
    /// When it is shown.
    enum Mode {
        /// Never.
        case off
        /// If the work takes long enough to make somebody wonder, and cleared at the end.
        case passing
        /// From the start, and left standing at the end.
        case standing
    }

    /// Ten times a second is as often as anybody can see.
    static let pause: UInt64 = 100_000_000
    /// Shorter work than this needs no telling.
    static let patience: UInt64 = 500_000_000

    /// Bytes read so far.
    var bytes: UInt64 = 0
    /// Bytes to read altogether, where that is known.
    var total: UInt64?

    private let mode: Mode
    private let descriptor: Int32
    private let clock: Clock
    private var next: UInt64
    private var drawn = ""

    init(_ mode: Mode, descriptor: Int32 = Descriptor.error, clock: Clock = .system) {
        self.mode = mode
        self.descriptor = descriptor
        self.clock = clock
        next = clock.boot() + (mode == .passing ? Self.patience : 0)
    }

    /// True if somebody may be looking at it.
    var isOn: Bool { mode != .off }

    /// Draws it anew, if it is time and something has changed.
    func show(sent: UInt64, stored: UInt64) {
        show(text(sent: sent, stored: stored))
    }

    /// Draws a text, if it is time and it is another one.
    func show(_ made: @autoclosure () -> String) {
        guard isOn else { return }
        let now = clock.boot()
        guard now >= next else { return }
        let text = made()
        guard text != drawn else { return }
        draw(text)
        next = now + Self.pause
    }

    /// Tells something else, on a line of its own.
    func say(_ text: String) {
        write((drawn.isEmpty ? "" : Self.clear) + text + "\n")
        drawn = ""
    }

    /// Ends it: nothing of it stands in the way of what is printed next.
    func finish(sent: UInt64, stored: UInt64) {
        finish(text(sent: sent, stored: stored))
    }

    /// Ends it; a standing one with this text.
    func finish(_ last: @autoclosure () -> String = "") {
        switch mode {
        case .off: break
        case .passing: if !drawn.isEmpty { write(Self.clear) }
        case .standing: write(Self.clear + last() + "\n")
        }
        drawn = ""
        next = .max
    }

    private static let clear = "\r\u{1b}[K"

    private func text(sent: UInt64, stored: UInt64) -> String {
        let of = total.map { " of " + FigureText.bytes(max($0, bytes)) } ?? ""
        return FigureText.bytes(bytes) + of + " · \(FigureText.grouped(sent)) lines sent · "
            + "\(FigureText.grouped(stored)) stored"
    }

    private func draw(_ text: String) {
        write("\r\(text)\u{1b}[K")
        drawn = text
    }

    private func write(_ text: String) {
        try? Descriptor.write(descriptor, Array(text.utf8))
    }
}
