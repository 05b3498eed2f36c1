extension URLEncodedFormEncoder {
    /// The order of an object's fields.
    public enum KeyOrder: Sendable, Hashable {
        /// By name, so that equal values give equal text: good for caches and signatures.
        case sorted
        /// As the value encodes them: a structure's properties as they are declared, a dictionary's entries at random.
        case asEncoded
    }

    /// How an array's elements are named, for the key `a`.
    public enum ArrayEncoding: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case noBrackets
        /// `a[0]=1&a[1]=2`
        case indexInBrackets
        /// The closure gives an element's whole name, of the array's and the element's index from 0.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// How an object's fields are named, for the field `b` of `a`.
    public enum KeyPathEncoding: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        /// The closure gives what follows the object's name, of the field's: `[b]` for `b`, say.
        case custom(@Sendable (_ subkey: String) -> String)
    }

    /// How keys become names, at every depth: a structure's, a dictionary's and those of ``Parameters``.
    public enum KeyEncoding: Sendable {
        /// As they are.
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
        /// The closure gives a name for a key.
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

        /// A word begins with a capital that follows anything else, or that ends a run of them: `base|URL|Path`.
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
