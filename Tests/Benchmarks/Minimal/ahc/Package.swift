// swift-tools-version: 6.2
import PackageDescription

// The smallest user program, to measure its build time.
let package = Package(
    name: "minimal-ahc",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0")],
    targets: [
        .executableTarget(
            name: "minimal",
            dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
