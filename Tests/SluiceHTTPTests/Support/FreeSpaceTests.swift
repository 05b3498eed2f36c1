import Testing

@testable import SluiceHTTP

@Suite struct FreeSpaceTests {
    @Test func freeSpaceIsComputedForEveryFileSystem() {
        let zeros = FreeSpace(blocks: 0, available: 0, size: 0)
        #expect(zeros.bytes == nil, "Some file systems in user space report zeros.")
        #expect(FreeSpace(blocks: 1, available: 0, size: 4096).bytes == 0)
        #expect(FreeSpace(blocks: 1, available: 10, size: 4096).bytes == 40_960)
        #expect(FreeSpace(blocks: 1, available: .max, size: 4096).bytes == .max)
    }

    @Test func freeSpaceIsRead() {
        #expect(FreeSpace(path: "/") != nil)
        #expect(FreeSpace(path: "/does/not/exist") == nil)
        #expect(FreeSpace(descriptor: -1) == nil)
    }
}
