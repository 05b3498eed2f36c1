import Sluice
import SluiceTesting
import XCTest

/// The weather of a day.
public struct Forecast: Decodable, Sendable {
    /// The highest temperature, in degrees Celsius.
    public let high: Int
}

/// The API of weather.example.
public struct Weather: WebService {
    /// The client that sends the requests.
    public let client: APIClient

    /// Creates a service.
    public init(
        apiKey: String,
        baseURL: String = "https://weather.example/v2",
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) {
        client = APIClient(baseURL: baseURL) {
            $0.retry = .standard
            configure(&$0)
            $0.headers["X-API-Key"] = apiKey
            $0.secretHeaders.append("X-API-Key")
        }
    }

    /// The forecast for a city.
    public func forecast(for city: String, days: Int = 3) -> APIRequest<[Forecast], WeatherError> {
        server.get("forecast").query(["city": city, "days": days]).keyPath("data.days")
    }
}

/// The error of a failed request.
public struct WeatherError: ErrorSerializable {
    /// The reasons that the API has.
    public enum Reason: Sendable { case unknownCity, quotaExceeded, other }

    /// The reason of the failure.
    public let reason: Reason
    /// The failure of the request.
    public let underlyingError: SluiceError

    /// Creates an error from a failed request.
    public init(_ failure: RequestFailure) {
        struct Body: Decodable { let reason: String }
        switch (try? failure.decoded(as: Body.self))?.reason {
        case "unknown-city": reason = .unknownCity
        case "quota": reason = .quotaExceeded
        default: reason = .other
        }
        underlyingError = failure.error
    }
}

/// The forecasts of weather.example.
public protocol Forecasts: Sendable {
    /// The highest temperatures of the next days, in degrees Celsius.
    func highs(in city: String) async throws(ForecastError) -> [Int]
}

/// The error of a forecast.
public enum ForecastError: Error, Equatable {
    case unknownCity, quotaExceeded(retryAfter: Int), unavailable(String)
}

/// Forecasts from the server.
public struct RemoteForecasts: Forecasts {
    private let client: APIClient

    /// Creates forecasts for the key of an account.
    public init(apiKey: String) {
        self.init(apiKey: apiKey) { _ in }
    }

    init(apiKey: String, configure: (inout APIClient.Configuration) -> Void) {
        client = APIClient(baseURL: "https://weather.example/v2") {
            configure(&$0)
            $0.headers["X-API-Key"] = apiKey
            $0.secretHeaders.append("X-API-Key")
        }
    }

    /// The highest temperatures of the next days, in degrees Celsius.
    public func highs(in city: String) async throws(ForecastError) -> [Int] {
        let request = client.get("forecast", as: [DayOfServer].self, error: ForecastFailure.self).query("city", city)
        do {
            return try await request.sender().value.map(\.high)
        } catch {
            throw error.error
        }
    }
}

/// A day, as the server sends it.
private struct DayOfServer: Decodable, Sendable {
    let high: Int
}

/// The public error, made from a failed request.
private struct ForecastFailure: ErrorSerializable {
    let error: ForecastError

    init(_ failure: RequestFailure) {
        switch failure.status {
        case .notFound?: error = .unknownCity
        case .tooManyRequests?: error = .quotaExceeded(retryAfter: 60)
        default: error = .unavailable(failure.error.description)
        }
    }
}

/// The article on libraries.
final class LibrariesGuideTests: XCTestCase {
    func testForecast() async throws {
        let server = try LoopbackServer()
        server.on("/forecast", .json(#"{"data":{"days":[{"high":9},{"high":11}]}}"#))
        let weather = Weather(apiKey: "k3y", baseURL: server.url) {
            $0.timeouts.total = .seconds(5)
        }
        let days = try await weather.forecast(for: "Tromsø").sender().value
        XCTAssertEqual(days.map(\.high), [9, 11])
        XCTAssertEqual(server.requests.first?.headers["X-API-Key"], "k3y")
        let command = try weather.forecast(for: "Tromsø").httpRequest().curlCommand()
        XCTAssertFalse(command.contains("k3y"))
    }

    func testErrors() async throws {
        let server = try LoopbackServer()
        server.on("/forecast", .json(#"{"reason":"unknown-city"}"#, status: .notFound))
        do {
            _ = try await Weather(apiKey: "k3y", baseURL: server.url).forecast(for: "Atlantis").sender().value
            XCTFail("The request must fail.")
        } catch {
            XCTAssertEqual(error.reason, .unknownCity)
            XCTAssertEqual(error.underlyingError.code, .unacceptableStatus)
        }
    }

    func testStubs() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/v2/forecast"), .json(#"{"data":{"days":[{"high":21}]}}"#))
        let offline = Weather(apiKey: "k3y") { $0.transport = stubs }
        let forecast = try await offline.forecast(for: "Oslo").sender().value
        XCTAssertEqual(forecast.map(\.high), [21])
    }

    func testALibraryWithoutSluiceInItsInterface() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/v2/forecast"), .json(#"[{"high":21},{"high":19}]"#), times: 1)
        stubs.on(.get("/v2/forecast"), .sequence([.status(.notFound), .status(.tooManyRequests)]))
        let forecasts = RemoteForecasts(apiKey: "k3y") { $0.transport = stubs }
        let highs = try await forecasts.highs(in: "Oslo")
        XCTAssertEqual(highs, [21, 19])
        try await expectError(ForecastError.unknownCity) { try await forecasts.highs(in: "Atlantis") }
        try await expectError(ForecastError.quotaExceeded(retryAfter: 60)) { try await forecasts.highs(in: "Oslo") }
        XCTAssertEqual(stubs.requests.first?.headers["X-API-Key"], "k3y")
    }
}
