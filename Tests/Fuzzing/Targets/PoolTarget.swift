extension FuzzTarget {
    /// The decisions of a pool of connections: three digits are its limits, and then each operation is a letter and a
    /// digit, as `PoolModel.step` has them. Whatever happens in whatever order, no limit is exceeded, no connection
    /// carries two requests, each request ends once, nobody waits beside a free slot, and in the end nothing is left.
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

    /// The decisions of a pool whose connections carry several requests at a time: two digits are its limits, and then each operation
    /// is a letter and digits, as `SharedPoolModel.step` has them. No request is lost, no slot, and no connection carries more than it may.
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
