#if os(Linux)
import Testing

/// The suites that send requests through the engine, one after another: many of them measure times, and all share its loops.
@Suite(.serialized, .timeLimit(.minutes(5))) enum EngineTests {}
#endif
