extension APIClient {
    /// The default number of requests of an array that are sent at once: 16.
    ///
    /// The others wait outside the pipeline, where no time-out runs and no gate is asked.
    public static var batchLimit: Int { 16 }

    /// Sends requests with any models and errors at once and returns all models.
    ///
    /// ```swift
    /// let (user, repos) = try await github.batch(userRequest, reposRequest)
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. The first failure cancels the other
    /// requests and their transfers, and so does cancelling the calling task. Use a ``BatchSender`` for progress and
    /// individual results.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; nil, the default, for all.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<each Model: Sendable, each ErrorModel: ErrorSerializable>(
        _ request: repeat APIRequest<each Model, each ErrorModel>,
        maximumInFlight: Int? = nil
    ) async throws -> (repeat each Model) {
        try await batchSender(repeat each request, maximumInFlight: maximumInFlight).value
    }

    /// Sends requests with the same model, a limited number at a time, and returns all models.
    ///
    /// ```swift
    /// let users = try await github.batch(names.map { github.codable.request("users/\($0)", as: User.self) })
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. The first failure cancels the other
    /// requests and their transfers, and so does cancelling the calling task. An empty array returns an empty array at
    /// once.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; ``batchLimit`` by default.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ requests: [APIRequest<Model, ErrorModel>],
        maximumInFlight: Int = APIClient.batchLimit
    ) async throws(ErrorModel) -> [Model] {
        try await batchSender(requests, maximumInFlight: maximumInFlight).value
    }

    /// Creates a sender for requests with any models and errors. It sends them once, when an outcome is first read.
    ///
    /// ```swift
    /// let (user, repos) = await github.batchSender(userRequest, reposRequest, failsFast: false).results
    /// ```
    ///
    /// - Parameters:
    ///   - request: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; nil, the default, for all.
    ///   - failsFast: True to cancel the other requests after the first failure; true by default.
    /// - Returns: A sender whose models and results are tuples in the requests' order.
    public func batchSender<each Model: Sendable, each ErrorModel: ErrorSerializable>(
        _ request: repeat APIRequest<each Model, each ErrorModel>,
        maximumInFlight: Int? = nil,
        failsFast: Bool = true
    ) -> BatchSender<(repeat each Model), (repeat Result<each Model, each ErrorModel>), any Error> {
        let slots = (repeat BatchSlot(each request))
        var members: [any BatchMember] = []
        for slot in repeat each slots { members.append(slot) }
        let run = BatchRun(members, upTo: maximumInFlight ?? .max, failsFast: failsFast, time: pipeline.time)
        return BatchSender(run) { reading in
            if let first = run.firstFailure { try run.members[first].check(reading) }
            return (repeat try (each slots).result(reading).get())
        } results: { reading in
            (repeat (each slots).result(reading))
        }
    }

    /// Creates a sender for requests with the same model. It sends them once, when an outcome is first read.
    ///
    /// ```swift
    /// let sender = github.batchSender(requests, maximumInFlight: 4, failsFast: false)
    /// async let results = sender.results
    /// for await progress in sender.progress { print("\(progress.completed) of \(progress.total)") }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: The maximum number of requests to send at once, at least 1; ``batchLimit`` by default.
    ///   - failsFast: True to cancel the other requests after the first failure; true by default.
    /// - Returns: A sender whose models and results are arrays in the requests' order.
    public func batchSender<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ requests: [APIRequest<Model, ErrorModel>],
        maximumInFlight: Int = APIClient.batchLimit,
        failsFast: Bool = true
    ) -> BatchSender<[Model], [Result<Model, ErrorModel>], ErrorModel> {
        let slots = requests.map { BatchSlot($0) }
        let run = BatchRun(slots, upTo: maximumInFlight, failsFast: failsFast, time: pipeline.time)
        return BatchSender(run) { (reading) throws(ErrorModel) in
            if let first = run.firstFailure { _ = try slots[first].result(reading).get() }
            return try slots.map { (slot) throws(ErrorModel) in try slot.result(reading).get() }
        } results: { reading in
            slots.map { $0.result(reading) }
        }
    }
}
