import SluiceHTTP

extension URITemplate {
    /// A template with its variables, from which a request can be created.
    public struct Expansion: Endpoint {
        let template: URITemplate
        let variables: Variables

        /// Returns a GET request to the expanded template.
        ///
        /// - Throws: ``SluiceError/Code/invalidURL``, with a ``URITemplateFailure``, or because a variable makes a
        ///   segment `.` or `..`, which cannot be escaped and would change the path.
        public func draft() throws(SluiceError) -> RequestDraft {
            do {
                let path = try template.expand(variables)
                if Expansion.hasDotSegments(path), !Expansion.hasDotSegments(template.description) {
                    throw SluiceError.invalidURL("a variable of its template makes a segment of dots alone")
                }
                return RequestDraft(path: path)
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(
                    .invalidURL,
                    "\(error)",
                    step: .building,
                    underlyingError: error
                )
            }
        }

        private static func hasDotSegments(_ reference: String) -> Bool {
            let path = URIReference(reference).path
            return DotSegments.removing(from: path) != path
        }
    }

    /// Returns an endpoint with these variables: `client.get(template.expanding(["id": 1]))`.
    public func expanding(_ variables: Variables) -> Expansion {
        Expansion(template: self, variables: variables)
    }
}
