#if canImport(Security)
import Dispatch
import Foundation
import Security
import SluiceHTTP

/// A store that keeps the token in the keychain of this device, readable after the first unlock.
///
/// On macOS, a store without an access group uses the login keychain, which the user unlocks.
///
/// Programs that share the item do not wait for each other. If the server rotates refresh tokens, only one of them may
/// use the store.
///
/// ```swift
/// $0.store = KeychainTokenStore(service: "com.example.shop")
/// ```
public struct KeychainTokenStore: TokenStore {
    private let service: String
    private let account: String
    private let accessGroup: String?
    /// A separate queue, because the keychain may ask the user and block until they answer.
    private let queue = DispatchQueue(label: "sluice.keychain")

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - service: The service of the keychain item, usually the program's identifier.
    ///   - account: The account of the keychain item; `oauth2` by default.
    ///   - accessGroup: The group of programs that share the item; nil for this program only. It requires an entitlement.
    public init(service: String, account: String = "oauth2", accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// Reads the token from the keychain; nil if there is none.
    ///
    /// - Returns: The token.
    /// - Throws: An error with the keychain's message, or for an item that holds no token.
    public func load() async throws -> OAuth2.Token? {
        let store = self
        let contents = await queue.result { () -> Result<Data?, TokenStoreError> in
            var query = store.query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            if status == errSecItemNotFound { return .success(nil) }
            guard status == errSecSuccess, let data = item as? Data else { return .failure(.keychain(status)) }
            return .success(data)
        }
        guard let contents = try contents.get() else { return nil }
        do {
            return try JSONDecoder().decode(OAuth2.Token.self, from: contents)
        } catch {
            throw TokenStoreError("The keychain item does not contain a token. Sign in again to replace it.")
        }
    }

    /// Writes the token to the keychain.
    ///
    /// - Parameter token: The token to save.
    /// - Throws: An error with the keychain's message, or for a token that cannot be encoded.
    public func save(_ token: OAuth2.Token) async throws {
        guard let contents = try? JSONEncoder().encode(token) else {
            throw TokenStoreError("The token could not be encoded: its expiration date is not valid.")
        }
        let store = self
        try await queue.result { () -> Result<Void, TokenStoreError> in
            let values: [CFString: Any] = [
                kSecValueData: contents,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(store.query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                let item = store.query.merging(values) { $1 }
                status = SecItemAdd(item as CFDictionary, nil)
            }
            return status == errSecSuccess ? .success(()) : .failure(.keychain(status))
        }.get()
    }

    /// Removes the token.
    ///
    /// - Throws: An error with the keychain's message.
    public func delete() async throws {
        let store = self
        try await queue.result { () -> Result<Void, TokenStoreError> in
            let status = SecItemDelete(store.query as CFDictionary)
            let isGone = status == errSecSuccess || status == errSecItemNotFound
            return isGone ? .success(()) : .failure(.keychain(status))
        }.get()
    }

    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account,
        ]
        if let accessGroup {
            query[kSecAttrAccessGroup] = accessGroup
            // On macOS, only the data protection keychain has groups. It requires a program with entitlements.
            query[kSecUseDataProtectionKeychain] = true
        }
        return query
    }
}

extension TokenStoreError {
    fileprivate static func keychain(_ status: OSStatus) -> TokenStoreError {
        let words = SecCopyErrorMessageString(status, nil) as String? ?? "error \(status)"
        return TokenStoreError("The keychain cannot be used: \(words).")
    }
}
#endif
