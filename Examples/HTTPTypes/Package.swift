// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies.
let package = Package(
    name: "http-types",
    platforms: [.macOS(.v15)],
    products: [.library(name: "HTTPTypesConversion", targets: ["HTTPTypesConversion"])],
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    ],
    targets: [
        .target(
            name: "HTTPTypesConversion",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Sluice", package: "sluice"),
            ]
        ),
        .testTarget(
            name: "HTTPTypesConversionTests",
            dependencies: [
                "HTTPTypesConversion",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
