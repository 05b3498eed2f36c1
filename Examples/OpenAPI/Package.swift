// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies.
let package = Package(
    name: "openapi",
    platforms: [.macOS(.v15)],
    products: [.library(name: "SluiceOpenAPI", targets: ["SluiceOpenAPI"])],
    dependencies: [
        .package(name: "sluice", path: "../.."),
        .package(name: "http-types", path: "../HTTPTypes"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    ],
    targets: [
        // In place of the package swift-openapi-runtime: see README.md.
        .target(name: "OpenAPIRuntime", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")]),
        .target(
            name: "SluiceOpenAPI",
            dependencies: [
                "OpenAPIRuntime",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HTTPTypesConversion", package: "http-types"),
                .product(name: "Sluice", package: "sluice"),
            ]
        ),
        .testTarget(
            name: "SluiceOpenAPITests",
            dependencies: [
                "OpenAPIRuntime", "SluiceOpenAPI",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
