// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody builds it who does not run it.
let package = Package(
    name: "soak",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        .executableTarget(
            name: "soak",
            dependencies: [
                .product(name: "Sluice", package: "sluice"), .product(name: "SluiceTesting", package: "sluice"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
