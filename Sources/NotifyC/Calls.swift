// The names are C's, and what each call does stands in notify.h, which is the contract.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

internal import CNotify
internal import NotifyClient
internal import NotifyProtocol

/// Runs a call on the client; what it throws is the status.
@inline(__always)
private func call(_ body: (NotifyClient) throws(NotifyStatus) -> Void) -> UInt32 {
    guard let held = Process.client else { return NotifyStatus.failed.rawValue }
    return held._withUnsafeGuaranteedRef { client in
        do throws(NotifyStatus) {
            try body(client)
            return NotifyStatus.ok.rawValue
        } catch {
            return error.rawValue
        }
    }
}

/// Runs a call that only loads, where each ns counts: the client itself finds out that it is a
/// parent's, and only then is it looked for.
@inline(__always)
private func load(_ body: (NotifyClient) throws(NotifyStatus) -> Void) -> UInt32 {
    let status = Process.latest?._withUnsafeGuaranteedRef { client in
        do throws(NotifyStatus) {
            try body(client)
            return NotifyStatus.ok.rawValue
        } catch {
            return error.rawValue
        }
    }
    if let status, status != NotifyStatus.invalidToken.rawValue { return status }
    return call(body)
}

/// A name as C gives it; `invalidName` where it is null or no UTF-8.
func text(_ bytes: UnsafePointer<CChar>?) throws(NotifyStatus) -> String {
    guard let bytes, let text = String(validatingCString: bytes) else { throw .invalidName }
    return text
}

/// Runs a registration and puts its token out, or -1.
func register(
    _ bytes: UnsafePointer<CChar>?,
    _ token: UnsafeMutablePointer<Int32>?,
    _ body: (NotifyClient, String) throws(NotifyStatus) -> NotifyToken
) -> UInt32 {
    token?.pointee = NOTIFY_TOKEN_INVALID
    return call { client throws(NotifyStatus) in
        let name = try text(bytes)
        guard let token else { throw .nullInput }
        token.pointee = try body(client, name)
    }
}

@c @implementation
public func notify_post(_ bytes: UnsafePointer<CChar>?) -> UInt32 {
    call { client throws(NotifyStatus) in try client.post(text(bytes)) }
}

@c @implementation
public func notify_simple_post(_ bytes: UnsafePointer<CChar>?) -> UInt32 {
    notify_post(bytes)
}

@c @implementation
public func notify_post_one_way(_ bytes: UnsafePointer<CChar>?) -> UInt32 {
    call { client throws(NotifyStatus) in try client.postOneWay(text(bytes)) }
}

@c @implementation
public func notify_one_way_errors() -> UInt64 {
    Process.client?._withUnsafeGuaranteedRef { $0.quietErrors } ?? 0
}

@c @implementation
public func notify_check(_ token: Int32, _ check: UnsafeMutablePointer<Int32>?) -> UInt32 {
    load { client throws(NotifyStatus) in
        guard let check else { throw .nullInput }
        check.pointee = try client.check(token) ? 1 : 0
    }
}

@c @implementation
public func notify_peek(_ token: Int32, _ count: UnsafeMutablePointer<UInt32>?) -> UInt32 {
    load { client throws(NotifyStatus) in
        guard let count else { throw .nullInput }
        count.pointee = try client.peek(token)
    }
}

@c @implementation
public func notify_set_state(_ token: Int32, _ state: UInt64) -> UInt32 {
    call { client throws(NotifyStatus) in try client.setState(token, state) }
}

@c @implementation
public func notify_get_state(_ token: Int32, _ state: UnsafeMutablePointer<UInt64>?) -> UInt32 {
    load { client throws(NotifyStatus) in
        guard let state else { throw .nullInput }
        state.pointee = try client.state(token)
    }
}

@c @implementation
public func notify_set_and_post(_ token: Int32, _ state: UInt64) -> UInt32 {
    call { client throws(NotifyStatus) in try client.setAndPost(token, state) }
}

@c @implementation
public func notify_suspend(_ token: Int32) -> UInt32 {
    call { client throws(NotifyStatus) in try client.suspend(token) }
}

@c @implementation
public func notify_resume(_ token: Int32) -> UInt32 {
    call { client throws(NotifyStatus) in try client.resume(token) }
}

@c @implementation
public func notify_cancel(_ token: Int32) -> UInt32 {
    call { client throws(NotifyStatus) in try client.cancel(token) }
}

@c @implementation
public func notify_is_valid_token(_ token: Int32) -> Bool {
    Process.client?._withUnsafeGuaranteedRef { $0.isValid(token) } ?? false
}

@c @implementation
public func notify_monitor_file(
    _ token: Int32,
    _ bytes: UnsafePointer<CChar>?,
    _ flags: Int32
) -> UInt32 {
    call { client throws(NotifyStatus) in
        guard client.isValid(token) else { throw .invalidToken }
        guard let bytes, let path = String(validatingCString: bytes) else {
            throw .invalidRequest
        }
        let changes = FileChanges(rawValue: UInt32(bitPattern: flags))
        try client.monitorFile(token, path, changes.intersection(.all))
    }
}

@c @implementation
public func notify_set_options(_ options: UInt32) {
    let client = Process.client?.takeUnretainedValue()
    if options & UInt32(NOTIFY_OPT_DISABLE) != 0 { client?.isEnabled = false }
    if options & UInt32(NOTIFY_OPT_ENABLE) != 0 { client?.isEnabled = true }
}

@c @implementation
public func notify_suspend_pid(_ pid: Int32) -> UInt32 {
    NotifyStatus.invalidRequest.rawValue
}

@c @implementation
public func notify_resume_pid(_ pid: Int32) -> UInt32 {
    NotifyStatus.invalidRequest.rawValue
}
