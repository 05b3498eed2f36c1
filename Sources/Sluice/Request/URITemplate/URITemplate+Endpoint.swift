import SluiceHTTP

extension URITemplate {
    /// A template with its variables, for a request to be made of.
    public struct Expansion: Endpoint {
        let template: URITemplate
        let variables: Variables

        /// A GET request to the expanded template.
        ///
        /// - Throws: ``SluiceError/Code/invalidURL`` with a ``URITemplateFailure``.
        public func draft() throws(SluiceError) -> RequestDraft {
            do {
                return RequestDraft(path: try template.expand(variables))
            } catch {
                throw SluiceError(
                    .invalidURL,
                    error.description,
                    step: .building,
                    underlyingError: error
                )
            }
        }
    }

    /// What a request is made of: `client.get(template.expanding(["id": 1]))`.
    public func expanding(_ variables: Variables) -> Expansion {
        Expansion(template: self, variables: variables)
    }
}
