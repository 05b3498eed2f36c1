extension FuzzTarget {
    /// Runs operations on a connection pool. Three digits are its limits; each operation is a letter and a digit, as in
    /// `PoolModel.step`. No limit is exceeded, no connection carries two requests, each request ends once, no request waits while
    /// a slot is free, and nothing is left at the end.
    static let pool = FuzzTarget("pool") { bytes in
        #if os(Linux)
        var input = FuzzInput(bytes)
        var model = PoolModel(
            limit: 1 + input.digit() % 6,
            limitPerHost: 1 + input.digit() % 3,
            maximumWaiting: input.digit() % 9
        )
        while let operation = input.byte() {
            try model.step(operation, &input)
            try model.check()
        }
        try model.drain()
        #endif
    }

    /// Runs operations on a pool whose connections carry several requests. Two digits are its limits; each operation is a letter
    /// and digits, as in `SharedPoolModel.step`. No request or slot is lost, and no connection exceeds its capacity.
    static let sharedPool = FuzzTarget("shared-pool") { bytes in
        #if os(Linux)
        var input = FuzzInput(bytes)
        var model = SharedPoolModel(
            limitPerHost: 1 + input.digit() % 8,
            maximumWaiting: input.digit() % 9
        )
        while let operation = input.byte() {
            try model.step(operation, &input)
            try model.check()
        }
        try model.drain()
        #endif
    }
}
