// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package builds no page.
let package = Package(
    name: "waterfall",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")],
    targets: [
        .target(name: "WaterfallPage", dependencies: [.product(name: "Sluice", package: "sluice")]),
        .executableTarget(
            name: "waterfall",
            dependencies: [
                "WaterfallPage",
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ],
            path: "Sources/Command"
        ),
        .testTarget(
            name: "WaterfallPageTests",
            dependencies: ["WaterfallPage", "waterfall", .product(name: "Sluice", package: "sluice")],
            resources: [.copy("Archives")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
