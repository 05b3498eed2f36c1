#if os(Linux)
import CCrypto

/// AES-256-GCM (NIST SP 800-38D) by libcrypto.
package enum AuthenticatedCipher {
    package static let nonceSize = 12
    package static let tagSize = 16

    /// Encrypts a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - key: A key of 32 bytes.
    ///   - nonce: Bytes that are used once with this key.
    ///   - context: Bytes that are authenticated and not part of the result.
    /// - Returns: The encrypted bytes, followed by the tag; nil if libcrypto fails.
    package static func seal(_ message: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        transform(message[...], nil, key, nonce, context)
    }

    /// Decrypts a message, or returns nil if the bytes, the key, the nonce or the context are others than those of the encryption.
    package static func open(_ sealed: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= tagSize else { return nil }
        return transform(sealed.dropLast(tagSize), Array(sealed.suffix(tagSize)), key, nonce, context)
    }

    /// Encrypts and appends the tag, or decrypts if there is a tag.
    private static func transform(
        _ input: ArraySlice<UInt8>,
        _ tag: [UInt8]?,
        _ key: [UInt8],
        _ nonce: [UInt8],
        _ context: [UInt8]
    ) -> [UInt8]? {
        sluice_keep_crypto()
        guard key.count == 32, nonce.count == nonceSize, input.count < Int32.max, context.count < Int32.max,
            let cipher = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(cipher) }
        var output = [UInt8](repeating: 0, count: input.count + tagSize)
        var count: Int32 = 0
        let isOpening = tag != nil
        guard EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, isOpening ? 0 : 1) == 1,
            EVP_CipherUpdate(cipher, nil, &count, context, Int32(context.count)) == 1
        else { return nil }
        let isTransformed = input.withUnsafeBufferPointer { input in
            // Without bytes, a null pointer would have another meaning.
            input.isEmpty || EVP_CipherUpdate(cipher, &output, &count, input.baseAddress, Int32(input.count)) == 1
        }
        guard isTransformed else { return nil }
        if var tag {
            guard EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagSize), &tag) == 1 else { return nil }
        }
        var last = [UInt8](repeating: 0, count: tagSize)
        guard EVP_CipherFinal_ex(cipher, &last, &count) == 1 else { return nil }
        output.removeLast(tagSize)
        if isOpening { return output }
        guard EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagSize), &last) == 1 else { return nil }
        return output + last
    }
}
#endif
