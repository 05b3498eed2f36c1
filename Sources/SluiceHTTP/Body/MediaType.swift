/// The media types of files (RFC 6838), by file name extension. The table is fixed, so that the result does not depend
/// on the system.
package enum MediaType {
    /// The media type of unknown content.
    package static let octetStream = "application/octet-stream"

    /// Returns the media type of a file name extension.
    ///
    /// - Parameter fileExtension: The extension without its dot, in any case.
    /// - Returns: The media type, or ``octetStream`` if the extension is unknown.
    package static func forFileExtension(_ fileExtension: String) -> String {
        types[fileExtension.lowercased()] ?? octetStream
    }

    /// Returns the media type of a file name.
    ///
    /// - Parameter fileName: A file name or a path. The part after the last dot is the extension.
    /// - Returns: The media type, or ``octetStream`` if there is no extension or it is unknown.
    package static func forFileName(_ fileName: String) -> String {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return octetStream }
        return forFileExtension(String(fileName[fileName.utf8.index(after: dot)...]))
    }

    private static let types: [String: String] = [
        // Text
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "html": "text/html", "htm": "text/html",
        "css": "text/css", "csv": "text/csv", "tsv": "text/tab-separated-values", "md": "text/markdown",
        "markdown": "text/markdown", "js": "text/javascript", "mjs": "text/javascript", "ics": "text/calendar",
        "vcf": "text/vcard", "vtt": "text/vtt", "rtf": "application/rtf",
        // Structured text
        "json": "application/json", "map": "application/json", "jsonld": "application/ld+json",
        "geojson": "application/geo+json", "ndjson": "application/x-ndjson", "jsonl": "application/x-ndjson",
        "webmanifest": "application/manifest+json", "xml": "application/xml", "xsl": "application/xml",
        "xhtml": "application/xhtml+xml", "atom": "application/atom+xml", "rss": "application/rss+xml",
        "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql",
        "plist": "application/x-plist", "sh": "application/x-sh", "wasm": "application/wasm",
        // Images
        "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml",
        "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon",
        "psd": "image/vnd.adobe.photoshop", "jxl": "image/jxl",
        // Audio and video
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "wav": "audio/wav", "flac": "audio/flac",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "weba": "audio/webm", "mid": "audio/midi",
        "midi": "audio/midi", "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
        "ogv": "video/ogg", "mpeg": "video/mpeg", "mpg": "video/mpeg", "avi": "video/x-msvideo",
        "mkv": "video/matroska", "3gp": "video/3gpp", "ts": "video/mp2t",
        // Fonts
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        // Documents
        "pdf": "application/pdf", "ps": "application/postscript", "epub": "application/epub+zip",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "eml": "message/rfc822",
        // Archives
        "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "tar": "application/x-tar",
        "bz2": "application/x-bzip2", "xz": "application/x-xz", "zst": "application/zstd",
        "7z": "application/x-7z-compressed", "rar": "application/vnd.rar", "jar": "application/java-archive",
        "apk": "application/vnd.android.package-archive", "sqlite": "application/vnd.sqlite3",
    ]
}
