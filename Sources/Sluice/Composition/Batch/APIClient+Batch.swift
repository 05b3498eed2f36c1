extension APIClient {
    /// How many requests of an array are sent at once, where nothing else is said: 16.
    ///
    /// The others wait outside of the pipeline, where no time-out runs and no gate is asked.
    public static var batchLimit: Int { 16 }

    /// Sends requests of any models and errors at once, and gives all models.
    ///
    /// ```swift
    /// let (user, repos) = try await github.batch(userRequest, reposRequest)
    /// ```
    ///
    /// Each is sent by its own client, whichever this is asked of. The first that fails cancels the others, on the wire too, and so does
    /// the cancellation of the calling task. For progress and the results of each there is a ``BatchSender``.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - maximumInFlight: How many to send at once, at least 1; nil, the default, for all.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<each Model: Sendable, each ErrorModel: ErrorSerializable>(
        _ request: repeat APIRequest<each Model, each ErrorModel>,
        maximumInFlight: Int? = nil
    ) async throws -> (repeat each Model) {
        try await batchSender(repeat each request, maximumInFlight: maximumInFlight).value
    }

    /// Sends requests of one model, some at a time, and gives all models.
    ///
    /// ```swift
    /// let users = try await github.batch(names.map { github.codable.request("users/\($0)", as: User.self) })
    /// ```
    ///
    /// Each is sent by its own client, whichever this is asked of. The first that fails cancels the others, on the wire too, and so does
    /// the cancellation of the calling task. No requests give no models, at once.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - maximumInFlight: How many to send at once, at least 1; ``batchLimit`` by default.
    /// - Returns: The models in the requests' order.
    /// - Throws: The error model of the request that failed first.
    public func batch<Model: Sendable, ErrorModel: ErrorSerializable>(
        _ requests: [APIRequest<Model, ErrorModel>],
        maximumInFlight: Int = APIClient.batchLimit
    ) async throws(ErrorModel) -> [Model] {
        try await batchSender(requests, maximumInFlight: maximumInFlight).value
    }

    /// Makes a sender of requests of any models and errors, which sends them once, when it is first asked for an outcome.
    ///
    /// ```swift
    /// let (user, repos) = await github.batchSender(userRequest, reposRequest, failsFast: false).results
    /// ```
    ///
    /// - Parameters:
    ///   - request: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: How many to send at once, at least 1; nil, the default, for all.
    ///   - failsFast: Whether the first that fails cancels the others; true by default.
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

    /// Makes a sender of requests of one model, which sends them once, when it is first asked for an outcome.
    ///
    /// ```swift
    /// let sender = github.batchSender(requests, maximumInFlight: 4, failsFast: false)
    /// async let results = sender.results
    /// for await progress in sender.progress { print("\(progress.completed) of \(progress.total)") }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests, each of which is sent by its own client.
    ///   - maximumInFlight: How many to send at once, at least 1; ``batchLimit`` by default.
    ///   - failsFast: Whether the first that fails cancels the others; true by default.
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
