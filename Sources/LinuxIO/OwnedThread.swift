internal import CLinux
internal import Glibc
internal import Synchronization

/// A named kernel thread with one job.
///
/// What the job makes inside it never leaves, so the compiler proves that it has one owner.
public final class OwnedThread: Sendable {
    private let handle: Mutex<pthread_t?>

    /// Starts the thread.
    ///
    /// `name` shows in top and gdb, cut to 15 bytes.
    public init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let job = Unmanaged.passRetained(Job(name: name, body: body))
        var made = pthread_t()
        let code = pthread_create(
            &made,
            nil,
            { argument in
                guard let argument else { return nil }
                let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
                _ = clinux_block_broken_pipes()
                _ = clinux_thread_name(String(job.name.prefix(15)))
                job.body()
                return nil
            },
            job.toOpaque()
        )
        guard code == 0 else {
            job.release()
            throw SystemError("start thread", name, code: code)
        }
        handle = Mutex(made)
    }

    deinit {
        if let thread = handle.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// The calling thread's kernel id.
    public static var currentID: Int32 { clinux_thread_id() }

    /// Lets the calling thread's waits end when they were asked to: by itself the kernel adds up to
    /// 50 us.
    public static func waitExactly() {
        _ = clinux_thread_timer_slack(1)
    }

    /// Lets the calling thread wait for others that want the processor: the lowest priority.
    ///
    /// It cannot be taken back without rights.
    public static func yieldToOthers() {
        _ = clinux_thread_nice(19)
    }

    /// Waits until the job is done.
    ///
    /// Calling it again, or on the thread itself, does nothing.
    public func join() {
        let thread = handle.withLock { held in
            defer { held = nil }
            return held
        }
        guard let thread else { return }
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private final class Job: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
