// The names are C's, and what each call does stands in notify.h, which is the contract.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CNotify
internal import NotifyClient
internal import NotifyProtocol

/// A C function and its context, as numbers: what they lead to is the program's business, and so
/// is which thread may touch it.
private struct Callback: Sendable {
    private let function: UInt
    private let context: UInt

    init?(_ handler: notify_handler_t?, _ context: UnsafeMutableRawPointer?) {
        guard let handler else { return nil }
        function = unsafeBitCast(handler, to: UInt.self)
        self.context = UInt(bitPattern: context)
    }

    init?(_ handler: notify_event_handler_t?, _ context: UnsafeMutableRawPointer?) {
        guard let handler else { return nil }
        function = unsafeBitCast(handler, to: UInt.self)
        self.context = UInt(bitPattern: context)
    }

    func callWithToken(_ token: NotifyToken) {
        let handler = unsafeBitCast(function, to: notify_handler_t.self)
        handler(token, UnsafeMutableRawPointer(bitPattern: context))
    }

    func callWithEvent(_ event: NotifyEvent) {
        var told = notify_event(
            token: event.token,
            merged: event.merged,
            post: event.post,
            state: event.state,
            connection: event.connection,
            pid: event.pid,
            uid: event.uid,
            cause: event.cause.rawValue,
            reserved: 0
        )
        let handler = unsafeBitCast(function, to: notify_event_handler_t.self)
        handler(&told, UnsafeMutableRawPointer(bitPattern: context))
    }
}

@c @implementation
public func notify_register_check(
    _ bytes: UnsafePointer<CChar>?,
    _ token: UnsafeMutablePointer<Int32>?
) -> UInt32 {
    register(bytes, token) { client, name throws(NotifyStatus) in try client.registerCheck(name) }
}

@c @implementation
public func notify_register_plain(
    _ bytes: UnsafePointer<CChar>?,
    _ token: UnsafeMutablePointer<Int32>?
) -> UInt32 {
    notify_register_check(bytes, token)
}

@c @implementation
public func notify_register_signal(
    _ bytes: UnsafePointer<CChar>?,
    _ number: Int32,
    _ token: UnsafeMutablePointer<Int32>?
) -> UInt32 {
    register(bytes, token) { client, name throws(NotifyStatus) in
        try client.registerSignal(name, number)
    }
}

@c @implementation
public func notify_register_file_descriptor(
    _ bytes: UnsafePointer<CChar>?,
    _ descriptor: UnsafeMutablePointer<Int32>?,
    _ flags: Int32,
    _ token: UnsafeMutablePointer<Int32>?
) -> UInt32 {
    register(bytes, token) { client, name throws(NotifyStatus) in
        guard let descriptor else { throw .invalidFile }
        let reuse = flags & NOTIFY_REUSE != 0 ? descriptor.pointee : nil
        let made = try client.registerFileDescriptor(name, reuse: reuse)
        descriptor.pointee = made.descriptor
        return made.token
    }
}

@c @implementation
public func notify_register_handler(
    _ bytes: UnsafePointer<CChar>?,
    _ token: UnsafeMutablePointer<Int32>?,
    _ handler: notify_handler_t?,
    _ context: UnsafeMutableRawPointer?
) -> UInt32 {
    let callback = Callback(handler, context)
    return register(bytes, token) { client, name throws(NotifyStatus) in
        guard let callback else { throw .nullInput }
        return try client.registerHandler(name) { callback.callWithToken($0.token) }
    }
}

@c @implementation
public func notify_register_event_handler(
    _ bytes: UnsafePointer<CChar>?,
    _ token: UnsafeMutablePointer<Int32>?,
    _ handler: notify_event_handler_t?,
    _ context: UnsafeMutableRawPointer?
) -> UInt32 {
    let callback = Callback(handler, context)
    return register(bytes, token) { client, name throws(NotifyStatus) in
        guard let callback else { throw .nullInput }
        return try client.registerHandler(name) { callback.callWithEvent($0) }
    }
}
