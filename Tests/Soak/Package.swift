// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that it is built only by those who run it.
let package = Package(
    name: "soak",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        // Lets libdispatch work while the other code has no descriptors.
        .target(name: "CStarvation"),
        .executableTarget(
            name: "soak",
            dependencies: [
                "CStarvation",
                .product(name: "Sluice", package: "sluice"), .product(name: "SluiceTesting", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
