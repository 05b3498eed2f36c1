// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies.
let package = Package(
    name: "telemetry",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
    ],
    targets: [
        .target(
            name: "Telemetry",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Telemetry",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
