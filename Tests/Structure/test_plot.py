"""Tests of the pictures of benchmarks: python3 -m unittest discover Tests/Structure"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "Benchmarks" / "plot.py"

RUN = """\
rps/1 sluice=4917 ahc=3884 urlsession=1397 ratio=1.27
rps/64 sluice=45487 ahc=20964 urlsession=2211 ratio=2.17
cpu/64 sluice=0.300 ahc=0.790 urlsession=5.440 ratio=2.63
http2/64 sluice=26545 ahc=14910 urlsession=- ratio=1.78
download/1GiB sluice=0.8 ahc=1.1 urlsession=2.2 curl=0.7 ratio=1.4
relay/download sluice=0.370 ahc=0.910 urlsession=- http1=0.45 ratio=1.22
scale/in-flight/1 sluice=60.1 ahc=93.0 urlsession=- ratio=1.55
scale/in-flight/64 sluice=22.5 ahc=47.7 urlsession=- ratio=2.12
scale/in-flight/64/rate sluice=44000 ahc=20000 urlsession=- ratio=2.20
startup sluice=11.3 ahc=- urlsession=- ratio=-
"""
SPACE = "{http://www.w3.org/2000/svg}"


class PlotTests(unittest.TestCase):
    def draw(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plot.svg")
            result = subprocess.run([sys.executable, SCRIPT, *options, path], input=text, capture_output=True, text=True)
            picture = pathlib.Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""
            return result, picture

    def bars(self, picture):
        """Returns (class, width) of each bar, without the legend."""
        rects = ElementTree.fromstring(picture).iter(SPACE + "rect")
        found = [(rect.get("class"), float(rect.get("width"))) for rect in rects if rect.get("class", "").endswith(" bar")]
        return [(name.split()[0], width) for name, width in found[3:]]

    def test_bars_are_relative_to_the_longest_of_their_line(self):
        result, picture = self.draw(RUN, "--bars")
        self.assertEqual(result.returncode, 0, result.stderr)
        bars = self.bars(picture)
        self.assertEqual([name for name, _ in bars[:3]], ["sluice", "ahc", "urlsession"])
        self.assertEqual(len(bars), 3 * 3 + 2 * 2 + 1)
        longest = bars[0][1]
        self.assertAlmostEqual(bars[1][1], longest * 3884 / 4917, delta=0.1)
        # The line cpu/64, of which the lower figure is better, is after those of the other column.
        cpu = bars[8:11]
        self.assertEqual(cpu[2], ("urlsession", longest))
        self.assertAlmostEqual(cpu[0][1], longest * 0.3 / 5.44, delta=0.1)

    def test_bars_have_their_figures_and_both_colour_schemes(self):
        _, picture = self.draw(RUN, "--bars")
        texts = [element.text for element in ElementTree.fromstring(picture).iter(SPACE + "text")]
        for text in ["45,500", "0.300", "5.44", "Sluice", "AsyncHTTPClient", "URLSession", "Lower is better"]:
            self.assertIn(text, texts)
        self.assertNotIn("Allocations of a request", texts)
        self.assertIn("prefers-color-scheme: dark", picture)
        self.assertNotRegex(picture, r"(href|url\(|<script)")

    def test_no_element_leaves_the_picture(self):
        _, picture = self.draw(RUN, "--bars")
        width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', picture).groups())
        for element in ElementTree.fromstring(picture).iter():
            x, y = element.get("x"), element.get("y")
            if x and y:
                self.assertLess(float(x) + float(element.get("width", 40)), width)
                self.assertLess(float(y), height)

    def test_scale_lines_are_a_table_and_a_plot(self):
        result, picture = self.draw(RUN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| requests in flight: 64 | 22.5 | 47.7 | 44,000 | 20,000 | 0.47 |", result.stdout)
        self.assertEqual(len(list(ElementTree.fromstring(picture).iter(SPACE + "polyline"))), 2)

    def test_missing_lines_and_arguments_fail(self):
        for text, options in [("", ["--bars"]), ("rps/1 sluice=- ahc=- urlsession=-", ["--bars"]), ("rps/1 sluice=1", [])]:
            result, picture = self.draw(text, *options)
            self.assertEqual((result.returncode, picture), (64, ""))
            self.assertIn("error: there are none of ", result.stderr)
        result = subprocess.run([sys.executable, SCRIPT, "--bars"], input=RUN, capture_output=True, text=True)
        self.assertEqual(result.returncode, 64)
        self.assertIn("--bars FILE.svg", result.stderr)


if __name__ == "__main__":
    unittest.main()
