// swift-tools-version: 6.2
import PackageDescription

// The smallest user program, to measure its build time.
let package = Package(
    name: "minimal-urlsession",
    platforms: [.macOS(.v15)],
    targets: [
        .executableTarget(name: "minimal", path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
