import Sluice
import SluiceFoundation
import SluiceHTTP

/// Reads the bodies of a cassette, and holds at most ``limit`` bytes of each in memory.
struct CassetteBodies: Sendable {
    /// The maximum length in bytes of a body that the cassette contains.
    static let limit = 1 << 20

    /// The body of a request that has been read.
    enum Contents: Sendable {
        case data(Data)
        /// The digest of a body that is too long to be held in memory.
        case digest(BodyDigest)
    }

    /// The body of a response that has been read.
    enum ResponseContents: Sendable {
        case data(Data)
        /// A body that is too long to be held in memory: its temporary file, and its digest; nil if it may contain a secret.
        case file(BodyFile, BodyDigest?)
    }

    let redaction: CassetteRedaction
    /// The folder of the response bodies that are longer than the limit. Each file is named by its SHA-256.
    private let folder: URL

    /// Creates the bodies of a cassette.
    ///
    /// - Parameters:
    ///   - cassette: The file of the cassette.
    ///   - redaction: The rules that remove secrets.
    init(of cassette: URL, _ redaction: CassetteRedaction) {
        self.redaction = redaction
        folder = Self.folder(of: cassette)
    }

    private static func folder(of cassette: URL) -> URL {
        let name = "\(cassette.lastPathComponent).bodies"
        return cassette.deletingLastPathComponent().appending(path: name, directoryHint: .isDirectory)
    }

    /// Removes the body files of a cassette, except those with the given names, and the temporary files of recordings that were
    /// interrupted more than a day ago. Other files in the folder are kept. Blocks.
    static func removeFiles(of cassette: URL, except names: Set<String>) {
        let folder = folder(of: cassette)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            let file = folder.appending(path: name)
            let isBody = BodyDigest(length: 0, sha256: name) != nil
            if isBody ? !names.contains(name) : isInterrupted(file, name) {
                try? FileManager.default.removeItem(at: file)
            }
        }
    }

    /// Returns true for a temporary file that nothing has written to for a day.
    private static func isInterrupted(_ file: URL, _ name: String) -> Bool {
        guard name.hasPrefix("."), UUID(uuidString: String(name.dropFirst())) != nil,
            let version = FileVersion(file)
        else { return false }
        return Date().timeIntervalSince1970 - Double(version.seconds) > 86_400
    }

    // MARK: - Requests

    /// Reads the body of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context. Its total time-out also limits the time to read the body.
    ///   - isSent: True if the request will be sent. A long body that can be read only once is then written to a
    ///     temporary file.
    /// - Returns: The request with a body that can be sent, the recording of the request, and the context with the
    ///   remaining total time.
    /// - Throws: The error of the body, a time-out, or a ``SluiceError`` with the code `cassetteUnwritable`.
    func read(
        _ request: HTTPRequest,
        _ context: TransferContext,
        isSent: Bool
    ) async throws(SluiceError) -> (request: HTTPRequest, recorded: RecordedRequest, context: TransferContext) {
        if request.body.isNone { return (request, RecordedRequest(request, body: Data()), context) }
        let start = ContinuousClock.now
        let read = try await TimedWork.outcome(within: context.timeouts.total) {
            () async throws(SluiceError) in try await self.contents(of: request, isSent: isSent)
        }
        var context = context
        context.timeouts.total = context.timeouts.total.map { max(.zero, $0 - start.duration(to: .now)) }
        var sent = request
        sent.body = read.body
        switch read.contents {
        case .data(let data): return (sent, RecordedRequest(request, body: data), context)
        case .digest(let digest):
            var recorded = RecordedRequest(request, body: Data())
            recorded.digest = digest
            return (sent, recorded, context)
        }
    }

    /// Reads a body. Returns its contents, and a body with the same bytes.
    private func contents(
        of request: HTTPRequest,
        isSent: Bool
    ) async throws(SluiceError) -> (contents: Contents, body: RequestBody) {
        var data = Data()
        var digester: BodyDigester?
        var file: BodyFile?
        var length: Int64 = 0
        var iterator = request.body.makeAsyncIterator()
        while let piece = try await iterator.next(isolation: nil) {
            length += Int64(piece.count)
            if digester == nil, data.count + piece.count <= Self.limit {
                data.append(piece)
                continue
            }
            if digester == nil {
                digester = BodyDigester(request.headers, redaction)
                digester?.append(data)
                if isSent, !request.body.isReplayable {
                    file = try await BodyFile.create(in: FileManager.default.temporaryDirectory)
                    try await file?.append(data)
                }
                data = Data()
            }
            digester?.append(piece)
            try await file?.append(piece)
        }
        guard let digest = try digester?.finish() else { return (.data(data), .data(data)) }
        return (.digest(digest), file.map { Self.body(of: $0, length: length) } ?? request.body)
    }

    /// Returns a body that is read from a temporary file. The file is removed with the body.
    private static func body(of file: BodyFile, length: Int64) -> RequestBody {
        let stream = RequestBody.Stream {
            var reader: FileReader?
            return { [file] in
                let open: FileReader
                if let reader { open = reader } else { open = try await FileReader.open(file.url) }
                reader = open
                return try await open.read()
            }
        }
        return .stream(stream, length: length, isReplayable: true)
    }

    // MARK: - Responses

    /// Reads the body of a response. A long body is written to a temporary file, unless it has to be searched for secrets as a
    /// whole. It is searched while it is written.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - limit: The maximum length in bytes; nil for none.
    /// - Returns: The contents.
    /// - Throws: The error of the transfer, ``SluiceError/Code/bodyTooLarge``, or a ``SluiceError`` with the code
    ///   `cassetteUnwritable`.
    func contents(of response: TransportResponse, upTo limit: Int64?) async throws(SluiceError) -> ResponseContents {
        var data = Data()
        var digest: SHA256Stream?
        var file: BodyFile?
        var search: BinaryBodySearch?
        var length: Int64 = 0
        // A search reads the whole body, so the next one follows when it is twice as long.
        var searched = Self.limit
        /// Begins the file with the bytes in memory.
        func begin() async throws(SluiceError) {
            digest = SHA256Stream()
            digest?.append(data)
            search = redaction.search(data, response.head.headers)
            file = try await BodyFile.create(in: folder)
            try await file?.append(data)
            data = Data()
        }
        var iterator = response.body.makeAsyncIterator()
        while let piece = try await iterator.next(isolation: nil) {
            length += Int64(piece.count)
            if let limit, length > limit { throw .bodyTooLarge(limit: limit) }
            if let file {
                digest?.append(piece)
                search?.append(piece)
                try await file.append(piece)
                continue
            }
            data.append(piece)
            guard data.count > searched else { continue }
            guard !redaction.mustSearch(data, response.head.headers) else {
                searched = data.count * 2
                continue
            }
            try await begin()
        }
        if file == nil, data.count > Self.limit, !redaction.mustSearch(data, response.head.headers) {
            try await begin()
        }
        guard let file else { return .data(data) }
        if search?.mayHaveSecret == true { return .file(file, nil) }
        guard let text = digest?.hexDigest, let digest = BodyDigest(length: length, sha256: text) else {
            throw SluiceError(.unsupported, "The system library does not provide SHA-256.")
        }
        return .file(file, digest)
    }

    /// Returns a response body that is read from its file.
    ///
    /// - Parameters:
    ///   - digest: The digest of the body.
    ///   - response: The recorded response.
    ///   - limit: The maximum number of bytes; nil for no limit. A longer body fails while it is read.
    ///   - metrics: The metrics of the transfer.
    ///   - reporter: Receives the progress; nil for none.
    /// - Returns: The body.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnreadable` if the file is missing or has another length. The body
    ///   fails with it at its end if the file contains other bytes.
    func body(
        _ digest: BodyDigest,
        of response: RecordedExchange.Response,
        upTo limit: Int64?,
        _ metrics: TransferMetrics,
        _ reporter: TransferMeter.Reporter?
    ) async throws(SluiceError) -> ResponseBody {
        let url = url(of: digest)
        let file = try await open(url)
        guard file.length == digest.length else {
            throw .unreadableBody(url, "it has \(file.length) bytes, but \(digest.length) were recorded")
        }
        return Self.body(file, (digest, url), upTo: limit, trailers: response.trailers, metrics, reporter)
    }

    /// Returns a response body that is read from its temporary file, which may be removed meanwhile.
    func body(
        of file: BodyFile,
        trailers: HTTPHeaders,
        _ metrics: TransferMetrics
    ) async throws(SluiceError) -> ResponseBody {
        Self.body(try await open(file.url), nil, upTo: nil, trailers: trailers, metrics, nil)
    }

    private func open(_ url: URL) async throws(SluiceError) -> FileReader {
        do throws(SluiceError) {
            return try await FileReader.open(url)
        } catch {
            throw .unreadableBody(url, "it is missing, or is not a file", underlying: error)
        }
    }

    /// Returns the body of a file. Its contents must have the recorded digest, unless that is nil.
    private static func body(
        _ file: FileReader,
        _ recorded: (digest: BodyDigest, url: URL)?,
        upTo limit: Int64?,
        trailers: HTTPHeaders,
        _ metrics: TransferMetrics,
        _ reporter: TransferMeter.Reporter?
    ) -> ResponseBody {
        ResponseBody { writer throws(SluiceError) in
            var count: Int64 = 0
            let digester = recorded == nil ? nil : SHA256Stream()
            while let piece = try await file.read() {
                if Task.isCancelled { throw .cancelled }
                count += Int64(piece.count)
                digester?.append(piece)
                if let limit, count > limit { throw .bodyTooLarge(limit: limit) }
                reporter?.received(count)
                await writer.write(piece)
            }
            if let recorded, let digest = digester?.hexDigest, digest != recorded.digest.sha256 {
                throw .unreadableBody(recorded.url, "its contents are not those that were recorded")
            }
            return (metrics, trailers)
        }
    }

    /// Returns the location of the file of a body.
    func url(of digest: BodyDigest) -> URL {
        folder.appending(path: digest.sha256, directoryHint: .notDirectory)
    }
}

extension SluiceError {
    fileprivate static func unreadableBody(
        _ url: URL,
        _ reason: String,
        underlying error: SluiceError? = nil
    ) -> SluiceError {
        SluiceError(
            .cassetteUnreadable,
            "The body file “\(url.path)” of a cassette cannot be read: \(reason).",
            underlyingError: error
        )
    }
}
