// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the main package has no dependencies. With SLUICE_BENCHMARK_PEERS=0, it has none either.
let comparesPeers = Context.environment["SLUICE_BENCHMARK_PEERS"] != "0"

let peers: [Package.Dependency] = [
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
]

let peerTargets: [Target] = [
    .executableTarget(
        name: "bench-ahc",
        dependencies: [
            "Measuring",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
            .product(name: "_NIOFileSystem", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ]
    ),
    .executableTarget(name: "bench-urlsession", dependencies: ["Measuring"]),
]

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "../..")] + (comparesPeers ? peers : []),
    targets: [
        .target(name: "Measuring"),
        .executableTarget(
            name: "bench-sluice",
            dependencies: ["Measuring", .product(name: "Sluice", package: "sluice")]
        ),
        .executableTarget(
            name: "bench-fleet",
            dependencies: [
                .product(name: "Sluice", package: "sluice"), .product(name: "SluiceRedis", package: "sluice"),
            ]
        ),
    ] + (comparesPeers ? peerTargets : []),
    swiftLanguageModes: [.v6]
)
