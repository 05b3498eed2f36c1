// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies.
let package = Package(
    name: "combine",
    platforms: [.macOS(.v15)],
    products: [.library(name: "RequestPublisher", targets: ["RequestPublisher"])],
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    ],
    targets: [
        .target(
            name: "RequestPublisher",
            dependencies: ["OpenCombine", .product(name: "Sluice", package: "sluice")],
            swiftSettings: [.define("OPENCOMBINE")]
        ),
        .testTarget(
            name: "RequestPublisherTests",
            dependencies: [
                "OpenCombine", "RequestPublisher",
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
