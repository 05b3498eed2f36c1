extension ModifiableRequest {
    /// Decodes the model from a part of the JSON body: `data.items[0]`, `data>items>0`.
    ///
    /// A path that does not exist fails the request with ``SluiceError/Code/decodingFailed``. The error says which part
    /// of the path was found. With an ``Envelope``, the path starts in its payload.
    public consuming func keyPath(_ path: JSONPath) -> Self { modified { $0.options.modelLocation.keyPath = path } }

    /// Accepts an empty body for a JSON model. The model is nil, or decoded from `{}` or `[]`. By default, an empty
    /// body fails a request for JSON. Text and bytes may always be empty.
    public consuming func allowingEmptyBody() -> Self { modified { $0.options.modelLocation.allowsEmptyBody = true } }

    /// Replaces the client's envelope; nil for none.
    public consuming func envelope(_ envelope: Envelope?) -> Self {
        modified { $0.options.modelLocation.envelope = envelope.map(ModelLocation.EnvelopeRule.own) ?? .none }
    }
}
