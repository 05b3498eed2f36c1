"""Tests of circles.py: python3 -m unittest discover Tests/Structure"""
import contextlib
import io
import pathlib
import tempfile
import unittest

import circles


class CirclesTests(unittest.TestCase):
    def run_over(self, files):
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder) / "Module"
            for name, text in files.items():
                path = module / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = circles.main([str(module)])
            return status, output.getvalue()

    def test_layers_pass(self):
        status, output = self.run_over({"A/a.swift": "struct A { let b: B }", "B/b.swift": "public final class B {}"})
        self.assertEqual((status, output), (0, "No circles.\n"))

    def test_a_circle_fails_with_the_names_that_tie_it(self):
        status, output = self.run_over(
            {
                "A/a.swift": "struct A { let b: B }",
                "B/b.swift": "enum B { case c(C), d(C) }",
                "C/c.swift": "@available(macOS 13, *) package indirect enum C { case a(A) }",
                "D/d.swift": "actor D { let a: A }",
            }
        )
        self.assertEqual(status, 1)
        self.assertIn("a circle of A, B, C", output)
        self.assertIn("A -> B: B 1", output)
        self.assertIn("B -> C: C 2", output)
        self.assertNotIn("D", output.replace("Module", ""))

    def test_comments_and_strings_do_not_count(self):
        text = 'struct B { // A\n /* A /* A */ A */ let text = "A \\" A", raw = #"A " A"#, long = """\nA " A\n""" }'
        status, _ = self.run_over({"A/a.swift": "struct A { let b: B }", "B/b.swift": text})
        self.assertEqual(status, 0)

    def test_names_of_two_folders_and_nested_ones_do_not_count(self):
        files = {
            "A/a.swift": "struct A { let b: B }\nstruct Same {}",
            "B/b.swift": "struct B {\n    struct Nested {}\n    let same: Same\n}\nstruct Same {}",
            "C/c.swift": "struct Nested { let b: B }",
        }
        self.assertEqual(self.run_over(files)[0], 1)
        files["C/c.swift"] = "struct Other { let b: B }"
        self.assertEqual(self.run_over(files)[0], 0)

    def test_files_beside_the_folders_are_a_folder_too(self):
        status, output = self.run_over({"a.swift": "struct A { let b: B }", "B/b.swift": "struct B { var a: A? }"})
        self.assertEqual(status, 1)
        self.assertIn("a circle of ., B", output)

    def test_a_module_without_swift_is_an_error(self):
        self.assertEqual(self.run_over({"A/a.c": "struct A;"})[0], 2)


if __name__ == "__main__":
    unittest.main()
