internal import Glibc

/// A terminal that hands over each key at once, without echo, until this value goes.
///
/// Keys that would raise signals come as bytes too.
public struct RawTerminal: ~Copyable {
    private let descriptor: Int32
    private let before: termios

    /// Switches the terminal of `descriptor`; nil where that is none.
    public init?(_ descriptor: Int32) {
        var mode = termios()
        guard tcgetattr(descriptor, &mode) == 0 else { return nil }
        self.descriptor = descriptor
        before = mode
        mode.c_lflag &= ~UInt32(ICANON | ECHO | ISIG | IEXTEN)
        mode.c_iflag &= ~UInt32(IXON | ICRNL)
        _ = tcsetattr(descriptor, TCSADRAIN, &mode)
    }

    deinit {
        var mode = before
        _ = tcsetattr(descriptor, TCSADRAIN, &mode)
    }

    /// Columns of the terminal of `descriptor`; 80 where it does not tell.
    public static func columns(_ descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
