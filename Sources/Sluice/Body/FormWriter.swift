/// Writes an encoded value as `name=value&name=value`.
struct FormWriter {
    private(set) var output: [UInt8] = []
    /// The name of the current field, unescaped. Nested fields append to it and remove their suffix again.
    private var name: [UInt8] = []
    private let options: URLEncodedFormEncoder
    private let isSpacePlus: Bool

    init(options: URLEncodedFormEncoder) {
        self.options = options
        isSpacePlus = options.spaceEncoding == .plusReplaced
        output.reserveCapacity(128)
    }

    /// Writes the fields of the root value.
    mutating func writeAll(of object: FormObject) {
        for field in ordered(object) {
            name.append(contentsOf: field.name.utf8)
            write(field.value)
            name.removeAll(keepingCapacity: true)
        }
    }

    /// Writes a value under the current name.
    private mutating func write(_ node: FormNode) {
        switch node {
        case .nothing: break
        case .null: if let text = options.nilEncoding.text { write(text) }
        case .text(let text): write(text)
        case .object(let object): write(object)
        case .array(let array): write(array)
        case .slot(let slot): write(slot.node)
        }
    }

    private mutating func write(_ object: FormObject) {
        let length = name.count
        for field in ordered(object) {
            switch options.keyPathEncoding {
            case .brackets:
                name.append(UInt8(ascii: "["))
                name.append(contentsOf: field.name.utf8)
                name.append(UInt8(ascii: "]"))
            case .dots:
                name.append(UInt8(ascii: "."))
                name.append(contentsOf: field.name.utf8)
            case .custom(let suffix): name.append(contentsOf: suffix(field.name).utf8)
            }
            write(field.value)
            name.removeLast(name.count - length)
        }
    }

    private mutating func write(_ array: FormArray) {
        let length = name.count
        for (index, element) in array.elements.enumerated() {
            switch options.arrayEncoding {
            case .brackets: name.append(contentsOf: "[]".utf8)
            case .noBrackets: break
            case .indexInBrackets: name.append(contentsOf: "[\(index)]".utf8)
            case .custom(let whole):
                let outer = name
                name = Array(whole(String(decoding: outer, as: UTF8.self), index).utf8)
                write(element)
                name = outer
                continue
            }
            write(element)
            name.removeLast(name.count - length)
        }
    }

    private func ordered(_ object: FormObject) -> [(name: String, value: FormNode)] {
        var fields = object.fields.entries
        switch options.keyEncoding {
        case .useDefaultKeys: break
        default: for index in fields.indices { fields[index].name = options.keyEncoding.name(for: fields[index].name) }
        }
        if options.keyOrder == .sorted {
            // Compare bytes, because Swift's string order is inconsistent if one string starts with a canonical
            // equivalent of the other.
            fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return fields
    }

    private mutating func write(_ value: String) {
        if !output.isEmpty { output.append(UInt8(ascii: "&")) }
        escape(name)
        output.append(UInt8(ascii: "="))
        escape(value.utf8)
    }

    private mutating func escape(_ text: some Sequence<UInt8>) {
        for byte in text {
            if options.allowedCharacters.contains(byte) {
                output.append(byte)
            } else if isSpacePlus, byte == UInt8(ascii: " ") {
                output.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.append(triplet: byte, to: &output)
            }
        }
    }
}
