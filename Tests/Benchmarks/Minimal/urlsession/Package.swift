// swift-tools-version: 6.2
import PackageDescription

// The smallest program of a user, to see how long it takes to build.
let package = Package(
    name: "minimal-urlsession",
    platforms: [.macOS(.v15)],
    targets: [
        .executableTarget(name: "minimal", path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
