extension ModifiableRequest {
    /// Makes the model of a part of the JSON body: `data.items[0]`, `data>items>0`.
    ///
    /// A path that leads nowhere fails the request with ``SluiceError/Code/decodingFailed``, which says how far it got. Where
    /// there is an ``Envelope``, the path begins in its payload.
    public consuming func keyPath(_ path: JSONPath) -> Self { modified { $0.options.modelLocation.keyPath = path } }

    /// Takes an empty body, which fails a request for JSON by default, for a model of nothing: nil, or what is decoded from `{}`
    /// or `[]`. Text and bytes may be empty anyway.
    public consuming func allowingEmptyBody() -> Self { modified { $0.options.modelLocation.allowsEmptyBody = true } }

    /// Takes the model out of another envelope than the client's, or out of none.
    public consuming func envelope(_ envelope: Envelope?) -> Self {
        modified { $0.options.modelLocation.envelope = envelope.map(ModelLocation.EnvelopeRule.own) ?? .none }
    }
}
