// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluiceTesting", targets: ["SluiceTesting"]),
        .library(name: "SluiceURLSession", targets: ["SluiceURLSession"]),
    ],
    dependencies: [],
    targets: [
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "SluiceHTTP"),
        .target(name: "SluiceCurl", dependencies: ["CCurl", "SluiceHTTP"]),
        .target(name: "SluiceURLSession", dependencies: ["SluiceHTTP"]),
        .target(
            name: "Sluice",
            dependencies: [
                "SluiceHTTP",
                .target(name: "CCrypto", condition: .when(platforms: [.linux])),
                .target(name: "SluiceCurl", condition: .when(platforms: [.linux])),
                .target(
                    name: "SluiceURLSession",
                    condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
                ),
            ]
        ),
        .target(name: "SluiceTesting", dependencies: ["SluiceHTTP"]),
        .executableTarget(
            name: "quickstart",
            dependencies: ["Sluice", "SluiceTesting"],
            path: "Examples/Quickstart"
        ),
        .target(name: "SanitizerOptions", path: "Tests/SanitizerOptions"),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "SanitizerOptions", "Sluice", .target(name: "SluiceCurl", condition: .when(platforms: [.linux])),
            ],
            exclude: ["OAuth2/authorization_server.py", "OAuth2/requirements.txt"]
        ),
        .testTarget(name: "SluiceHTTPTests", dependencies: ["SluiceHTTP", "SluiceTesting"]),
        .testTarget(name: "SluiceCurlTests", dependencies: ["SluiceCurl", "SluiceTesting"]),
        .testTarget(name: "SluiceTestingTests", dependencies: ["SluiceTesting"]),
        .testTarget(
            name: "SluiceTests",
            dependencies: [
                "Sluice", "SluiceHTTP", "SluiceTesting",
                .target(name: "SluiceCurl", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(name: "SluiceURLSessionTests", dependencies: ["SluiceURLSession", "SluiceTesting"]),
    ],
    swiftLanguageModes: [.v6]
)
