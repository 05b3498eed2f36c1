// swift-tools-version: 6.2
import PackageDescription

// The smallest program of a user, to see how long it takes to build.
let package = Package(
    name: "minimal-sluice",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../../../..")],
    targets: [
        .executableTarget(
            name: "minimal",
            dependencies: [.product(name: "Sluice", package: "sluice")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
