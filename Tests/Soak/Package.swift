// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that it is built only by those who run it.
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
