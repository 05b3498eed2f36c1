#!/usr/bin/env python3
"""Renders the pages of the site of the documentation from Markdown.

    Docs/Pages/pages.py OUTPUT

The README is the start page. Links to articles lead to the pages of DocC in the folder api, and links to sources to pages that
show them. Links are relative, so that the pages work on any server and without one.
"""
import html
import os
import pathlib
import posixpath
import re
import shutil
import sys
import urllib.parse

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOG = "Sources/Sluice/Sluice.docc"
# The pages of the navigation, by their headings. Every guide in Docs must be among them.
NAVIGATION = {
    "Sluice": {"README.md": "Overview", "Docs/Options.md": "Options", "Docs/Architecture.md": "Architecture"},
    "Migrate": {
        "Docs/FromAlamofire.md": "From Alamofire", "Docs/FromAsyncHTTPClient.md": "From AsyncHTTPClient",
        "Docs/FromMoya.md": "From Moya", "Docs/FromMoyaMapper.md": "From MoyaMapper", "Docs/FromSwifty.md": "From Swifty",
        "Docs/FromSYMoyaNetwork.md": "From SYMoyaNetwork", "Docs/FromTRON.md": "From TRON",
    },
    "Decide": {
        "Docs/Reliability.md": "Reliability", "Docs/Security.md": "Security", "Docs/Performance.md": "Performance",
        "Docs/Stability.md": "Versions and stability",
    },
    "Project": {"CHANGELOG.md": "Changelog", "CONTRIBUTING.md": "Contributing", "SECURITY.md": "Report a vulnerability"},
}
IMAGES = {".svg", ".png"}


def slug(text):
    """Returns the anchor of a heading, as GitHub forms it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def address(path):
    """Returns the address of a file of the repository within the site."""
    if path == "README.md":
        return "index.html"
    if path == CATALOG or path.startswith(CATALOG + "/"):
        name = path[len(CATALOG) + 1:].removesuffix(".md").lower()
        return "api/documentation/sluice/" + ("" if name in ("", "sluice") else name + "/")
    if path.endswith("/README.md"):
        return path.removesuffix("README.md") + "index.html"
    if path.endswith(".md"):
        return path.removesuffix(".md") + ".html"
    if posixpath.splitext(path)[1] in IMAGES:
        return path
    return path + "/index.html" if (ROOT / path).is_dir() else path + ".html"


def code_inline(renderer, tokens, index, options, environment):
    """Returns inline code that can break after separators and between the words of a name."""
    text = re.sub(r"(?<=[./,(:_])(?=\w)|(?<=[a-z]{3})(?=[A-Z])", "\0", tokens[index].content)
    return f"<code>{html.escape(text).replace(chr(0), '<wbr>')}</code>"


class Site:
    """The pages, and the files that they refer to."""

    def __init__(self, output):
        self.output = output
        self.waiting = []
        self.known = set()
        self.markdown = MarkdownIt("commonmark", {"html": True, "highlight": self.highlighted}).enable(["table", "strikethrough"])
        self.markdown.add_render_rule("code_inline", code_inline)

    def highlighted(self, code, name, _):
        try:
            lexer = get_lexer_by_name({"": "text"}.get(name, name))
        except ClassNotFound:
            return ""
        return highlight(code, lexer, HtmlFormatter(nowrap=True))

    def build(self):
        for pages in NAVIGATION.values():
            for path in pages:
                self.refer(path)
        missing = {f"Docs/{file.name}" for file in (ROOT / "Docs").glob("*.md")} - self.known
        if missing:
            sys.exit(f"error: these guides are not in the navigation: {', '.join(sorted(missing))}")
        while self.waiting:
            self.write(self.waiting.pop())

    def refer(self, path):
        """Returns the address of a file of the repository, and adds it to the site."""
        if path not in self.known and not (path + "/").startswith(CATALOG + "/"):
            self.known.add(path)
            self.waiting.append(path)
        return address(path)

    def write(self, path):
        source, target = ROOT / path, self.output / address(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in IMAGES:
            shutil.copy(source, target)
            return
        if source.is_dir():
            title, contents, headings = path, self.listing(path), []
            readme = path + "/README.md"
            if (ROOT / readme).exists():
                # The page of a folder with a README is the README.
                title, contents, headings = self.rendered(readme)
        elif source.suffix == ".md":
            title, contents, headings = self.rendered(path)
        else:
            title, contents, headings = path, self.listing_of_source(path), []
        target.write_text(self.document(path, title, contents, headings), encoding="utf-8")

    def rendered(self, path):
        """Returns the title, the HTML and the headings of a page in Markdown."""
        tokens = self.markdown.parse((ROOT / path).read_text(encoding="utf-8"))
        counts, headings, title = {}, [], path
        for index, token in enumerate(tokens):
            if token.type != "heading_open":
                continue
            text = "".join(child.content for child in tokens[index + 1].children if child.type in ("text", "code_inline"))
            anchor = slug(text)
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            anchor = f"{anchor}-{count}" if count else anchor
            token.attrSet("id", anchor)
            if token.tag == "h1":
                title = text
            if token.tag == "h2":
                headings.append((anchor, text))
        contents = self.markdown.renderer.render(tokens, self.markdown.options, {})
        contents = contents.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
        # Code is focusable, so that the keyboard can scroll it.
        contents = contents.replace("<pre>", '<pre tabindex="0">')
        folder = posixpath.dirname(path)

        def resolved(match):
            name, target = match[1], html.unescape(match[2])
            return f'{name}="{html.escape(self.link(target, folder, address(path)))}"'

        return title, re.sub(r'\b(href|src|srcset)="([^"]*)"', resolved, contents), headings

    def link(self, target, folder, page):
        """Returns the link to a target that is relative to a folder of the repository, from the address of a page."""
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc or not parts.path:
            return target
        path = posixpath.normpath(posixpath.join(folder, urllib.parse.unquote(parts.path)))
        if path.startswith("..") or not (ROOT / path).exists():
            sys.exit(f"error: {page} refers to {target}, which does not exist")
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        return urllib.parse.quote(self.relative(self.refer(path), page)) + anchor

    @staticmethod
    def relative(target, page):
        path = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return path + "/" if target.endswith("/") else path

    def listing(self, path):
        """Returns a page with links to the files of a folder."""
        files = sorted(
            posixpath.relpath(os.path.join(folder, name).replace(os.sep, "/"), ROOT.as_posix())
            for folder, folders, names in os.walk(ROOT / path)
            for name in names
            if "/." not in f"{folder}/{name}"[len(str(ROOT)):] and self.is_text(pathlib.Path(folder, name))
        )
        items = "".join(
            f'<li><a href="{html.escape(self.relative(self.refer(file), address(path)))}">{html.escape(file[len(path) + 1:])}</a></li>'
            for file in files
        )
        return f"<h1><code>{html.escape(path)}</code></h1><ul>{items}</ul>"

    @staticmethod
    def is_text(file):
        with open(file, "rb") as opened:
            return b"\0" not in opened.read(4096)

    def listing_of_source(self, path):
        text = (ROOT / path).read_text(encoding="utf-8")
        try:
            lexer = get_lexer_for_filename(path)
        except ClassNotFound:
            lexer = get_lexer_by_name("bash" if text.startswith("#!") and "bash" in text[:40] else "text")
        code = highlight(text, lexer, HtmlFormatter(nowrap=True))
        return f'<h1><code>{html.escape(path)}</code></h1><pre tabindex="0"><code>{code}</code></pre>'

    def document(self, path, title, contents, headings):
        page = address(path)

        def item(target, label):
            if target != path:
                return f'<li><a href="{html.escape(self.relative(address(target), page))}">{html.escape(label)}</a></li>'
            inner = "".join(f'<li><a href="#{html.escape(a)}">{html.escape(text)}</a></li>' for a, text in headings)
            inner = f"<ul>{inner}</ul>" if inner and path != "README.md" else ""
            return f'<li><a href="#top" aria-current="page">{html.escape(label)}</a>{inner}</li>'

        navigation = "".join(
            f"<section><h2>{html.escape(head)}</h2><ul>{''.join(item(*pair) for pair in pages.items())}</ul></section>"
            for head, pages in NAVIGATION.items()
        )
        api, style, home = (self.relative(t, page) for t in ("api/documentation/sluice/", "site.css", "index.html"))
        name = "Sluice" if path == "README.md" else f"{title} – Sluice"
        return f"""<!DOCTYPE html>
<html lang="en" id="top">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(name)}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#contents">Skip to the contents</a>
<header><a class="home" href="{home}">Sluice</a><a href="{api}">Articles and API</a><a class="jump" href="#pages">Pages</a></header>
<div class="columns">
<nav id="pages" aria-label="Pages">{navigation}</nav>
<main id="contents">
{contents}
</main>
</div>
</body>
</html>
"""


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(64)
    site = Site(pathlib.Path(sys.argv[1]))
    site.build()
    print(f"{len(site.known)} pages and files")


if __name__ == "__main__":
    main()
