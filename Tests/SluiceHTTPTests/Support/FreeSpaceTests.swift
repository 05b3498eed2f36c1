import SluiceLibc
import Testing

@testable import SluiceHTTP

@Suite struct FreeSpaceTests {
    @Test func freeSpaceIsComputedForEveryFileSystem() {
        var status = statvfs()
        #expect(status.freeBytes == nil, "Some file systems in user space report zeros.")
        status.f_blocks = 1
        #expect(status.freeBytes == 0)
        status.f_frsize = 4096
        status.f_bavail = 10
        #expect(status.freeBytes == 40_960)
        status.f_bavail = .max
        #expect(status.freeBytes == .max)
    }
}
