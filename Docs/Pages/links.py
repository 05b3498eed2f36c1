#!/usr/bin/env python3
"""Checks the links of a static site: every link, image and anchor within it must exist.

    Docs/Pages/links.py SITE

Links to other sites are not followed, but a page must not load anything from them. Pages of DocC name their anchors in the JSON
beside them. Links between pages of DocC are not checked here, since DocC does it.
"""
import html.parser
import json
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.resources, self.anchors, self.repeated = [], [], set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            if values["id"] in self.anchors:
                self.repeated.add(values["id"])
            self.anchors.add(values["id"])
        if tag == "a" and values.get("href") is not None:
            self.links.append(values["href"])
        elif values.get("href") is not None:
            self.resources.append(values["href"])
        if values.get("src"):
            self.resources.append(values["src"])
        for candidate in (values.get("srcset") or "").split(","):
            if candidate.strip():
                self.resources.append(candidate.split()[0])


def anchors_of_docc(site, page):
    """Returns the anchors of a page of DocC; None if the page is none."""
    name = page.parent.relative_to(site / "api").as_posix()
    file = site / "api" / "data" / f"{name}.json"
    if not file.exists():
        return None
    found = set()

    def collect(value):
        if isinstance(value, dict):
            if isinstance(value.get("anchor"), str):
                found.add(value["anchor"])
            for member in value.values():
                collect(member)
        elif isinstance(value, list):
            for element in value:
                collect(element)

    collect(json.loads(file.read_text(encoding="utf-8")))
    return found


class Checker:
    def __init__(self, site):
        self.site = site.resolve()
        self.pages = {}

    def page(self, file):
        if file not in self.pages:
            self.pages[file] = Page(file.read_text(encoding="utf-8"))
        return self.pages[file]

    def problems(self):
        """Returns a sentence for each link that leads nowhere."""
        found = []
        for file in sorted(self.site.rglob("*.html")):
            if self.site / "api" in file.parents:
                continue
            page, name = self.page(file), file.relative_to(self.site).as_posix()
            found += [f"{name}: two elements have the ID {anchor}" for anchor in sorted(page.repeated)]
            for target in page.resources:
                if urllib.parse.urlsplit(target).scheme or target.startswith("//"):
                    found.append(f"{name}: {target} is loaded from another site")
                else:
                    found += self.problem(file, target, name)
            for target in page.links:
                if not urllib.parse.urlsplit(target).scheme:
                    found += self.problem(file, target, name)
        return found

    def problem(self, file, target, name):
        parts = urllib.parse.urlsplit(target)
        path = urllib.parse.unquote(parts.path)
        goal = (file.parent / path).resolve() if path else file
        if path.endswith("/"):
            goal /= "index.html"
        if self.site not in goal.parents or not goal.is_file():
            return [f"{name}: {target} does not exist"]
        if not parts.fragment or goal.suffix != ".html":
            return []
        anchor = urllib.parse.unquote(parts.fragment)
        anchors = anchors_of_docc(self.site, goal) if self.site / "api" in goal.parents else self.page(goal).anchors
        return [] if anchors is not None and anchor in anchors else [f"{name}: {target} has no such anchor"]


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    checker = Checker(pathlib.Path(sys.argv[1]))
    problems = checker.problems()
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    links = sum(len(page.links) + len(page.resources) for page in checker.pages.values())
    print(f"{len(checker.pages)} pages, {links} links, {len(problems)} problems")
    return 1 if problems or not checker.pages else 0


if __name__ == "__main__":
    sys.exit(main())
