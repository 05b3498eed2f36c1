// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluiceTelemetry", targets: ["SluiceTelemetry"]),
        .library(name: "SluiceTesting", targets: ["SluiceTesting"]),
        .library(name: "SluiceRedis", targets: ["SluiceRedis"]),
        .library(name: "SluiceURLSession", targets: ["SluiceURLSession"]),
    ],
    dependencies: [],
    targets: [
        // On Linux, all but zlib are loaded with their first use, so they are not linked: no `pkgConfig`, which would link them.
        .systemLibrary(name: "CBrotli"),
        .systemLibrary(name: "CCrypto"),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CNghttp2"),
        .systemLibrary(name: "CPSL"),
        .systemLibrary(name: "CSSL"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CZstd"),
        .target(name: "SluiceFoundation"),
        .target(name: "SluiceLibc"),
        .target(
            name: "SluiceHTTP",
            dependencies: [
                "SluiceFoundation", "SluiceLibc", .target(name: "CCrypto", condition: .when(platforms: [.linux])),
            ]
        ),
        .target(
            name: "SluiceEngine",
            dependencies: [
                "CBrotli", "CLinux", "CNghttp2", "CPSL", "CSSL", "CZlib", "CZstd", "SluiceFoundation",
                "SluiceHTTP", "SluiceLibc",
            ]
        ),
        .target(name: "SluiceURLSession", dependencies: ["SluiceHTTP"]),
        .target(name: "SluiceJSON", dependencies: ["SluiceFoundation"]),
        .target(
            name: "SluiceCache",
            dependencies: ["CSQLite", "CZlib", "SluiceFoundation", "SluiceHTTP", "SluiceLibc"],
            linkerSettings: [
                .linkedLibrary("sqlite3", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]))
            ]
        ),
        .target(
            name: "Sluice",
            dependencies: [
                "CZlib", "SluiceCache", "SluiceFoundation", "SluiceHTTP", "SluiceJSON", "SluiceLibc",
                .target(name: "CLinux", condition: .when(platforms: [.linux])),
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
                .target(
                    name: "SluiceURLSession",
                    condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
                ),
            ]
        ),
        .target(
            name: "SluiceTelemetry",
            dependencies: ["Sluice", "SluiceFoundation", "SluiceHTTP", "SluiceJSON"]
        ),
        .target(
            name: "SluiceTesting",
            dependencies: ["Sluice", "SluiceCache", "SluiceFoundation", "SluiceHTTP", "SluiceJSON", "SluiceLibc"]
        ),
        .target(
            name: "SluiceRedis",
            dependencies: [
                "Sluice", "SluiceCache", "SluiceFoundation", "SluiceHTTP", "SluiceLibc",
                .target(name: "CCrypto", condition: .when(platforms: [.linux])),
                .target(name: "CLinux", condition: .when(platforms: [.linux])),
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
            ]
        ),
        .executableTarget(
            name: "quickstart",
            dependencies: ["Sluice", "SluiceTesting"],
            path: "Examples/Quickstart"
        ),
        .target(name: "Fetching", path: "Examples/Fetch/Fetching"),
        .executableTarget(
            name: "fetch",
            dependencies: ["Fetching", "Sluice"],
            path: "Examples/Fetch/Command"
        ),
        .target(name: "SanitizerOptions", path: "Tests/SanitizerOptions"),
        .executableTarget(
            name: "CacheProcess",
            dependencies: ["CSQLite", "SanitizerOptions", "Sluice", "SluiceTesting"],
            path: "Tests/CacheProcess",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .executableTarget(
            name: "TokenProcess",
            dependencies: ["SanitizerOptions", "Sluice"],
            path: "Tests/TokenProcess"
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "SanitizerOptions", "Sluice", "SluiceHTTP", "SluiceTesting",
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
                "CacheProcess", "Fetching", "TokenProcess", "fetch",
            ],
            exclude: ["OAuth2/authorization_server.py", "OAuth2/requirements.txt"]
        ),
        .testTarget(name: "FetchingTests", dependencies: ["Fetching"]),
        .testTarget(
            name: "FuzzingTests",
            dependencies: [
                "Sluice", "SluiceCache", "SluiceHTTP", "SluiceJSON", "SluiceRedis", "SluiceTesting",
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
            ],
            path: "Tests/Fuzzing",
            exclude: ["Corpus", "Dictionaries", "Driver", "run"],
            sources: ["CorpusTests", "Targets"]
        ),
        .testTarget(name: "SluiceHTTPTests", dependencies: ["Sluice", "SluiceHTTP", "SluiceTesting"]),
        .testTarget(name: "SluiceJSONTests", dependencies: ["Sluice", "SluiceHTTP", "SluiceJSON", "SluiceTesting"]),
        .testTarget(
            name: "SluiceCacheTests",
            dependencies: ["Sluice", "SluiceCache", "SluiceHTTP", "SluiceTesting"]
        ),
        .testTarget(
            name: "SluiceEngineTests",
            dependencies: ["CBrotli", "CNghttp2", "CSSL", "CZlib", "CZstd", "Sluice", "SluiceEngine", "SluiceTesting"],
            linkerSettings: ["crypto", "nghttp2", "ssl", "zstd"].map { .linkedLibrary($0, .when(platforms: [.linux])) }
        ),
        .testTarget(
            name: "SluiceRedisTests",
            dependencies: [
                "Sluice", "SluiceCache", "SluiceHTTP", "SluiceRedis", "SluiceTesting",
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(
            name: "SluiceTelemetryTests",
            dependencies: ["Sluice", "SluiceHTTP", "SluiceTelemetry", "SluiceTesting"],
            exclude: ["Receiver/receiver.py", "Receiver/requirements.txt"]
        ),
        .testTarget(
            name: "SluiceTestingTests",
            dependencies: ["SluiceTesting", .target(name: "SluiceEngine", condition: .when(platforms: [.linux]))]
        ),
        .testTarget(
            name: "SluiceTests",
            dependencies: [
                "CSQLite", "Sluice", "SluiceCache", "SluiceHTTP", "SluiceTelemetry", "SluiceTesting",
                .target(name: "SluiceEngine", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(name: "SluiceURLSessionTests", dependencies: ["Sluice", "SluiceTesting", "SluiceURLSession"]),
    ],
    swiftLanguageModes: [.v6]
)
