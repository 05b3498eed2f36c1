extension SecretNames {
    /// The names of headers that usually hold secrets.
    package static let usualHeaders = [
        "*authorization", "cookie", "cookie2", "set-cookie", "set-cookie2", "*token", "*api-key*", "*access-key*",
        "*auth-key", "*subscription-key", "*functions-key", "*secret*", "*password*", "*passwd*", "*session-id",
        "*signature", "*credential*", "*private-key*", "*jwt*", "dpop",
    ]

    /// The names of JSON members that usually hold secrets.
    package static let usualMembers = [
        "*token", "*tokens", "*password*", "*passwd*", "passwort", "pwd", "*passphrase*", "pass", "*secret*",
        "*api-key*", "*access-key*", "*private-key*", "*auth-key", "*authorization", "auth", "bearer", "*credential*",
        "*signature", "*jwt*", "*session-id", "sessid", "*assertion", "code-verifier", "device-code", "user-code",
        "*auth-code", "*authorization-code", "*cookie", "set-cookie", "otp", "totp", "*one-time-code", "pin", "cvv",
        "cvc", "*card-number", "ssn", "saml-response", "dpop",
    ]

    /// More names of parameters that usually hold secrets. In JSON these names often have other meanings.
    package static let usualParameters = ["key", "code", "sig", "sid", "hmac"]
}
