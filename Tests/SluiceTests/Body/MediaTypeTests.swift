import Testing

@testable import Sluice

@Suite struct MediaTypeTests {
    @Test(
        arguments: [
            ("png", "image/png"), ("PNG", "image/png"), ("jpeg", "image/jpeg"), ("json", "application/json"),
            ("txt", "text/plain"), ("7z", "application/x-7z-compressed"), ("svg", "image/svg+xml"),
            ("nothing-known", "application/octet-stream"), ("", "application/octet-stream"),
            (".png", "application/octet-stream"), ("p\0ng", "application/octet-stream"),
        ]
    )
    func fileExtensionDeterminesTheMediaType(fileExtension: String, type: String) {
        #expect(MediaType.forFileExtension(fileExtension) == type)
    }

    @Test(
        arguments: [
            ("a.png", "image/png"), ("a.tar.gz", "application/gzip"), ("/a.d/b.PDF", "application/pdf"),
            ("größe.😀.zip", "application/zip"), ("png", "application/octet-stream"),
            ("a.png/b", "application/octet-stream"), ("a.", "application/octet-stream"),
            (".", "application/octet-stream"),
            ("", "application/octet-stream"), (".\u{301}png", "application/octet-stream"),
            (".json", "application/json"),
        ]
    )
    func lastExtensionOfAFileNameDeterminesTheMediaType(fileName: String, type: String) {
        #expect(MediaType.forFileName(fileName) == type)
    }
}
