/// The document around the contents of a page: its policy, style sheet and script.
struct PageDocument {
    let title: String
    let contents: HTML

    /// The policy comes before everything that it applies to. It allows the style sheet and the one script of the page,
    /// and neither a connection nor a form.
    var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
        script-src 'sha256-\(Script.hash)'; form-action 'none'; base-uri 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(title)</title>
        <style>
        \(Stylesheet.css)
        </style>
        </head>
        <body>
        <main>
        \(contents)
        </main>
        <script>\(Script.source)</script>
        </body>
        </html>

        """
    }
}
