"""Tests of pages.py: .build/venv/bin/python3 -m unittest discover Docs/Pages"""
import pathlib
import tempfile
import unittest

import pages


class PagesTests(unittest.TestCase):
    def test_anchors_are_those_of_github(self):
        for heading, anchor in [
            ("Known faults of HTTP engines", "known-faults-of-http-engines"), ("HTTP/1.1", "http11"),
            ("`URLSession`", "urlsession"), ("A, b & c", "a-b--c"), ("Snake_case and-hyphen", "snake_case-and-hyphen"),
        ]:
            self.assertEqual(pages.slug(heading), anchor)

    def test_addresses(self):
        for path, address in [
            ("README.md", "index.html"), ("Docs/Options.md", "Docs/Options.html"), ("Docs/soak.svg", "Docs/soak.svg"),
            ("Sources/Sluice/Sluice.docc/Tour.md", "api/documentation/sluice/tour/"),
            ("Sources/Sluice/Sluice.docc", "api/documentation/sluice/"), ("LICENSE", "LICENSE.html"),
            ("Examples/Quickstart/Tour.swift", "Examples/Quickstart/Tour.swift.html"),
            ("Examples/Waterfall", "Examples/Waterfall/index.html"),
            ("Examples/Waterfall/README.md", "Examples/Waterfall/index.html"),
        ]:
            self.assertEqual(pages.address(path), address)

    def test_links_are_relative_and_their_targets_are_added(self):
        site = pages.Site(pathlib.Path("unused"))
        page = "Docs/Options.html"
        for target, link in [
            ("Reliability.md#the-soak", "Reliability.html#the-soak"), ("../README.md", "../index.html"),
            ("../Sources/Sluice/Sluice.docc/Tour.md", "../api/documentation/sluice/tour/"), ("#precedence", "#precedence"),
            ("https://example.com/a.md", "https://example.com/a.md"),
        ]:
            self.assertEqual(site.link(target, "Docs", page), link)
        self.assertEqual(site.known, {"Docs/Reliability.md", "README.md"})
        with self.assertRaises(SystemExit):
            site.link("Missing.md", "Docs", page)
        with self.assertRaises(SystemExit):
            site.link("../../outside", "Docs", page)

    def test_inline_code_breaks_between_words(self):
        site = pages.Site(pathlib.Path("unused"))
        for code, markup in [
            ("HeadTests.rejectsFields", "Head<wbr>Tests.<wbr>rejects<wbr>Fields"), ("String?", "String?"), ("a<B>", "a&lt;B&gt;"),
            ("Tests/Soak/run", "Tests/<wbr>Soak/<wbr>run"),
        ]:
            self.assertEqual(site.markdown.renderInline(f"`{code}`"), f"<code>{markup}</code>")

    def test_pages_have_anchors_tables_and_colours(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pages.Site(pathlib.Path(folder))
            title, contents, headings = site.rendered("Docs/Options.md")
        self.assertEqual(title, "Options")
        self.assertIn(("precedence", "Precedence"), headings)
        self.assertIn('<h2 id="precedence">', contents)
        self.assertIn('<div class="table"><table>', contents)
        self.assertIn('<span class="kd">let</span>', contents)


if __name__ == "__main__":
    unittest.main()
