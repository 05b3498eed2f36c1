// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package builds no processes of a fleet.
let package = Package(
    name: "fleet",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        .target(name: "FleetReport"),
        .executableTarget(
            name: "fleet",
            dependencies: [
                "FleetReport",
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceRedis", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ],
            path: "Sources/Command"
        ),
        .testTarget(name: "FleetTests", dependencies: ["FleetReport", "fleet"]),
    ],
    swiftLanguageModes: [.v6]
)
