extension ModifiableRequest {
    /// Makes the model of a part of the JSON body: `data.items[0]`, `data>items>0`.
    ///
    /// A path that leads nowhere fails the request with ``SluiceError/Code/decodingFailed``, which says how far it got. Where
    /// there is an ``Envelope``, the path begins in its payload.
    public func keyPath(_ path: JSONPath) -> Self { modified { $0.modelLocation.keyPath = path } }

    /// Takes an empty body, which fails the request by default, for a model of nothing: nil, or what is decoded from `{}` or `[]`.
    public func allowingEmptyBody() -> Self { modified { $0.modelLocation.allowsEmptyBody = true } }

    /// Takes the model out of another envelope than the client's, or out of none.
    public func envelope(_ envelope: Envelope?) -> Self {
        modified { $0.modelLocation.envelope = envelope.map(ModelLocation.EnvelopeRule.own) ?? .none }
    }
}
