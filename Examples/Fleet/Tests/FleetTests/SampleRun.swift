import FleetReport

/// The events of a run of 20 seconds in which service 2 and Redis were killed.
struct SampleRun {
    var events: [FleetEvent] = []

    init() {
        for number in 0..<2000 { add(.order, at: Double(number) / 100) }
        for number in 0..<200 { add(.page, at: Double(number) / 10) }
        for number in 0..<5 { add(.token, at: Double(number) * 4.5) }
        for second in 1...20 {
            var counts = ServiceCounts()
            (counts.orders, counts.pages) = (33, 100)
            for service in 1...3 where service != 2 || !(5...7).contains(second) {
                events.append(FleetEvent(.counts, at: 1000 + Double(second), service: service, counts: counts))
            }
        }
        add(.serviceKilled, at: 5, 2)
        add(.serviceStarted, at: 7, 2)
        add(.redisKilled, at: 12)
        add(.redisStarted, at: 14)
        for service in 1...3 {
            add(.fallbackStarted, at: 12.1, service)
            add(.fallbackEnded, at: 14.3, service)
        }
        add(.stopping, at: 20)
    }

    /// Adds an event at a time in seconds since the start.
    mutating func add(_ kind: FleetEvent.Kind, at time: Double, _ service: Int? = nil) {
        events.append(FleetEvent(kind, at: 1000 + time, service: service))
    }

    /// Changes all counts.
    mutating func change(_ change: (inout ServiceCounts) -> Void) {
        for index in events.indices where events[index].counts != nil {
            var counts = events[index].counts ?? ServiceCounts()
            change(&counts)
            events[index].counts = counts
        }
    }
}
