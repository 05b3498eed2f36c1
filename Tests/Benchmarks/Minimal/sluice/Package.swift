// swift-tools-version: 6.2
import PackageDescription

// The smallest user program, to measure its build time.
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
