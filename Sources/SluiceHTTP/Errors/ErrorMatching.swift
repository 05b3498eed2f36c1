// Forms of matching an error that cannot work. Each is unavailable, and its message states a form that works.
//
// A `do` whose `catch` clauses are not exhaustive must rethrow. Where it rethrows a typed error as `any Error` in a
// function with a loop or a `var`, Swift 6.3 crashes or does not end. No type of error can prevent that, so patterns for
// codes are unavailable: a `switch` in a single `catch` must be exhaustive.

/// Unavailable. A code is compared in a single `catch`.
@available(
    *,
    unavailable,
    message:
        "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or case .failure(let error) where error.code == .timedOut."
)
public func ~= (code: SluiceError.Code, error: any Error) -> Bool { false }

extension Error {
    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no code. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var code: SluiceError.Code { .unsupported }

    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no status. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var status: HTTPStatus? { nil }

    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no isCancellation. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var isCancellation: Bool { false }
}
