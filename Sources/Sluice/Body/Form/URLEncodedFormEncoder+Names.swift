extension URLEncodedFormEncoder {
    /// The order of an object's fields.
    public enum KeyOrder: Sendable, Hashable {
        /// Sorted by name, so that equal values give equal text. Suitable for caches and signatures.
        case sorted
        /// The order in which the value encodes them. A structure's properties have their declaration order, a
        /// dictionary's entries a random order.
        case asEncoded
    }

    /// The naming of an array's elements, for the key `a`.
    public enum ArrayEncoding: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case noBrackets
        /// `a[0]=1&a[1]=2`
        case indexInBrackets
        /// Called with the array's name and the element's index from 0. Returns the complete name of the element.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// The naming of an object's fields, for the field `b` of `a`.
    public enum KeyPathEncoding: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        /// Called with the field's name. Returns the text that is appended to the object's name, such as `[b]` for `b`.
        case custom(@Sendable (_ subkey: String) -> String)
    }

    /// The conversion of keys to names. It applies to the keys of structures, dictionaries and ``Parameters`` at every
    /// depth.
    public enum KeyEncoding: Sendable {
        /// Keys are unchanged.
        case useDefaultKeys
        /// `baseURLPath` as `base_url_path`.
        case convertToSnakeCase
        /// `baseURLPath` as `base-url-path`.
        case convertToKebabCase
        /// `baseURLPath` as `BaseURLPath`.
        case capitalized
        /// `baseURLPath` as `BASEURLPATH`.
        case uppercased
        /// `baseURLPath` as `baseurlpath`.
        case lowercased
        /// Called with a key. Returns the name.
        case custom(@Sendable (_ key: String) -> String)

        func name(for key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key, separator: "_")
            case .convertToKebabCase: Self.words(of: key, separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let name): name(key)
            }
        }

        /// Splits a key into words. A word starts at an uppercase letter that follows another kind of character, or at
        /// the last one of a run if a lowercase letter follows: `base|URL|Path`.
        private static func words(of key: String, separator: Unicode.Scalar) -> String {
            let scalars = Array(key.unicodeScalars)
            var text = String.UnicodeScalarView()
            for (index, scalar) in scalars.enumerated() {
                guard scalar.properties.isUppercase else {
                    text.append(scalar)
                    continue
                }
                if index > 0, scalars[index - 1] != "_", scalars[index - 1] != "-" {
                    let isRunEnding = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                    if !scalars[index - 1].properties.isUppercase || isRunEnding { text.append(separator) }
                }
                text.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
            return String(text)
        }
    }
}
