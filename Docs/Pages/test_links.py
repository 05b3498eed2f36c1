"""Tests of links.py: python3 -m unittest discover Docs/Pages"""
import json
import pathlib
import tempfile
import unittest

import links


class LinksTests(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return links.Checker(pathlib.Path(folder)).problems()

    def test_links_that_lead_somewhere_pass(self):
        tour = {"sections": [{"content": [{"type": "heading", "anchor": "Models-and-errors"}]}]}
        problems = self.problems({
            "index.html": '<a href="a/b.html#c">x</a><a href="#d" id="d">x</a><a href="https://example.com/y">x</a>'
            '<img src="p.svg" srcset="p.svg 1x, p.svg 2x"><a href="a/">x</a><a href="api/documentation/tour/#Models-and-errors">x</a>',
            "a/b.html": '<h2 id="c">c</h2><a href="../index.html#d">x</a><a href="mailto:a@example.com">x</a>',
            "a/index.html": "", "p.svg": "<svg/>",
            "api/documentation/tour/index.html": '<script src="https://elsewhere.example/not-checked.js"></script>',
            "api/data/documentation/tour.json": json.dumps(tour),
        })
        self.assertEqual(problems, [])

    def test_links_that_lead_nowhere_fail(self):
        for markup, problem in [
            ('<a href="no.html">', "index.html: no.html does not exist"),
            ('<a href="other.html#no">', "index.html: other.html#no has no such anchor"),
            ('<a href="#no">', "index.html: #no has no such anchor"),
            ('<a href="folder">', "index.html: folder does not exist"),
            ('<a href="../outside.html">', "index.html: ../outside.html does not exist"),
            ('<img src="no.png">', "index.html: no.png does not exist"),
            ('<source srcset="other.html 1x, no.png 2x">', "index.html: no.png does not exist"),
            ('<script src="https://a.example/x.js">', "index.html: https://a.example/x.js is loaded from another site"),
            ('<link href="//a.example/x.css">', "index.html: //a.example/x.css is loaded from another site"),
            ('<p id="x"><p id="x">', "index.html: two elements have the ID x"),
            ('<a href="api/tour/#no">', "index.html: api/tour/#no has no such anchor"),
        ]:
            with self.subTest(markup):
                files = {"index.html": markup, "other.html": "<p id=yes>", "folder/a.html": "", "api/tour/index.html": ""}
                self.assertEqual(self.problems({**files, "api/data/tour.json": "{}"}), [problem])


if __name__ == "__main__":
    unittest.main()
