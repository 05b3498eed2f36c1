#if os(Linux)
import Testing

/// The suites that send requests through the engine. They run serially, because many of them measure times and all share the
/// event loops.
@Suite(.serialized, .timeLimit(.minutes(5))) enum EngineTests {}
#endif
