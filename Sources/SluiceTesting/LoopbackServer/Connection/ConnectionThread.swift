#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs a closure on a detached thread with a stack of 512 KiB. Only the stack pages in use consume memory.
func startThread(_ body: @escaping @Sendable () -> Void) throws(LoopbackFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t?
    #endif
    let box = Unmanaged.passRetained(ThreadBody(body))
    let result = pthread_create(&thread, &attributes, runThreadBody, box.toOpaque())
    guard result != 0 else { return }
    box.release()
    throw LoopbackFailure("pthread_create", errno: result)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Darwin)
private func runThreadBody(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
#else
private func runThreadBody(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let box { Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run() }
    return nil
}
#endif
