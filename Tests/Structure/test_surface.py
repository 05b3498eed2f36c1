"""Tests of surface.py: python3 -m unittest discover Tests/Structure"""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import surface


def symbol(name, kind, access="public"):
    return {"identifier": {"precise": name}, "kind": {"identifier": kind}, "accessLevel": access}


class SurfaceTests(unittest.TestCase):
    def run_over(self, graphs, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            for name, symbols in graphs.items():
                (pathlib.Path(folder) / f"{name}.symbols.json").write_text(json.dumps({"symbols": symbols}))
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = surface.main([folder, *arguments])
            return status, output.getvalue()

    graphs = {
        "A": [symbol("s:A", "swift.struct"), symbol("s:A1", "swift.property"), symbol("s:B", "swift.enum", "package")],
        "A@B": [symbol("s:A1", "swift.property"), symbol("s:A2::SYNTHESIZED::s:A", "swift.method"), symbol("s:C", "swift.protocol")],
    }

    def test_each_declaration_counts_once(self):
        status, output = self.run_over(self.graphs)
        self.assertEqual((status, output), (0, "public types: 2, public declarations: 3\n"))

    def test_a_value_above_its_limit_fails(self):
        self.assertEqual(self.run_over(self.graphs, "--types", "2", "--declarations", "3")[0], 0)
        self.assertEqual(self.run_over(self.graphs, "--types", "1")[0], 1)
        self.assertEqual(self.run_over(self.graphs, "--declarations", "2")[0], 1)

    def test_nothing_to_count_fails(self):
        self.assertEqual(self.run_over({})[0], 1)
