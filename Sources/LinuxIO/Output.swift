internal import Glibc

/// Standard output with a buffer of its own.
///
/// A reader that has gone (EPIPE) is told as a flag, so that commands can end quietly: a closed
/// pipe is success.
public struct Output: ~Copyable {
    /// Bytes gathered before a write; at most this many wait in memory.
    public static let bufferBytesMax = 64 << 10

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// True once the other end has closed; everything written after that is thrown away.
    public private(set) var isClosed = false

    /// Writes to `descriptor`, which stays open when this value goes.
    public init(_ descriptor: Int32 = Descriptor.output) {
        self.descriptor = descriptor
        buffer.reserveCapacity(Self.bufferBytesMax + 4096)
    }

    /// Lets `body` append to the buffer, and writes it out when it is full.
    ///
    /// - Throws: any failure to write but a closed pipe.
    public mutating func append(_ body: (inout [UInt8]) -> Void) throws(SystemError) {
        if isClosed { return }
        body(&buffer)
        if buffer.count >= Self.bufferBytesMax { try flush() }
    }

    /// Appends a text.
    public mutating func append(_ text: String) throws(SystemError) {
        try append { $0.append(contentsOf: text.utf8) }
    }

    /// Writes out what waits.
    public mutating func flush() throws(SystemError) {
        guard !isClosed, !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: true) }
        do throws(SystemError) {
            try Descriptor.write(descriptor, buffer)
        } catch {
            guard error.isBrokenPipe else { throw error }
            isClosed = true
        }
    }
}

/// One line at a time to standard error; failures there have nowhere to go and are ignored.
public enum StandardError {
    /// Writes `text` and a newline in one call.
    public static func line(_ text: String) {
        let bytes = Array(text.utf8) + [0x0a]
        try? Descriptor.write(Descriptor.error, bytes)
    }
}
