import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps a token in a file of its own, which nobody but the user can read.
///
/// ```swift
/// $0.store = FileTokenStore(URL(filePath: "/var/lib/shop/token.json"))
/// ```
///
/// The file is JSON and has the mode 0600 from its first moment on. A token is written beside it, brought to the disk and then
/// put in its place, so that after a crash there is the old token or the new one and never half of one. The folder must be there.
///
/// A file that others may read or write is refused, as a key is by ssh: `chmod 600` mends it, if nobody can have seen it. So is one
/// that holds no token: it is left as it is until somebody removes it, signs in or signs out.
///
/// One program keeps its token in a file at a time; two that refresh it would each make the other's worthless.
public struct FileTokenStore: TokenStore {
    private let file: PrivateFile
    /// Serial, so that what was begun first is done first.
    private let queue = DispatchQueue(label: "sluice.tokens")

    /// Makes a store.
    ///
    /// - Parameter url: Where the file is, or will be.
    public init(_ url: URL) {
        file = PrivateFile(path: url.path, holding: "a token", limit: 1 << 20)
    }

    /// The token in the file; nil if there is no file.
    ///
    /// - Returns: The token.
    /// - Throws: A ``TokenStoreError`` for a file that cannot be read, that others can read, or that holds no token.
    public func load() async throws -> OAuth2.Token? {
        let file = file
        let contents = await queue.result { () -> Result<Data?, TokenStoreError> in
            Result { () throws(PrivateFile.Failure) in try file.read() }.mapError { TokenStoreError($0.description) }
        }
        guard let contents = try contents.get() else { return nil }
        do {
            return try JSONDecoder().decode(OAuth2.Token.self, from: contents)
        } catch {
            // Not with the decoder's error, which may quote what it found.
            throw TokenStoreError(
                "The file “\(file.path)” holds no token; remove it, or sign in anew to have it replaced."
            )
        }
    }

    /// Writes the token to the disk.
    ///
    /// - Parameter token: What to keep.
    /// - Throws: A ``TokenStoreError`` where it cannot be written; the file then holds what it held.
    public func save(_ token: OAuth2.Token) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let contents: Data
        do {
            contents = try encoder.encode(token)
        } catch {
            throw TokenStoreError("The token cannot be encoded: its end is no date.")
        }
        let file = file
        try await queue.result { () -> Result<Void, TokenStoreError> in
            Result { () throws(PrivateFile.Failure) in try file.replace(with: contents) }.mapError {
                TokenStoreError($0.description)
            }
        }.get()
    }

    /// Removes the file.
    ///
    /// - Throws: A ``TokenStoreError`` where it is there and cannot be removed.
    public func delete() async throws {
        let file = file
        try await queue.result { () -> Result<Void, TokenStoreError> in
            Result { () throws(PrivateFile.Failure) in try file.remove() }.mapError { TokenStoreError($0.description) }
        }.get()
    }
}
