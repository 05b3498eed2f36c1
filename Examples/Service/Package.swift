// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies.
let package = Package(
    name: "service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .target(
            name: "UserService",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTelemetry", package: "sluice"),
            ]
        ),
        .executableTarget(
            name: "user-service",
            dependencies: ["UserService", .product(name: "Logging", package: "swift-log")],
            path: "Sources/Command"
        ),
        .executableTarget(
            name: "users-upstream",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Upstream"
        ),
        .executableTarget(
            name: "user-load",
            dependencies: [.product(name: "Sluice", package: "sluice")],
            path: "Sources/Load"
        ),
        .testTarget(
            name: "UserServiceTests",
            dependencies: [
                "UserService",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
