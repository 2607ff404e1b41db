"""Tests the tables of chapter 18, with and without recorded runs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import course  # noqa: F401  imported because it puts the tools on the path
import model_times

CALLS = [{"binding": "ctypes", "host_us": {"gate": 7.5, "torch.add": 2.25}}, {"binding": "stable", "checks": {}}]
MODEL = {"steps": [{"experts": "ours", "mode": "graph", "batch": 16, "ms": 5.125, "p10": 5.0, "p90": 5.5},
                   {"experts": "eager", "mode": "graph", "batch": 1, "failed": "RuntimeError: no"}],
         "prefill": [{"prefill": 4096, "experts": "compile", "ms": 40.0}],
         "parts": [{"parts_of": 64, "experts": "ours", "parts": {"gate": 10.0, "align": 2.0, "experts": 9000.5,
                                                                 "attention": 300.0, "rest": 100.0}},
                   {"parts_of": 1, "experts": "ours", "failed": "RuntimeError: no"}]}


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def record(self, name, content):
        model_times.FOLDER.mkdir(parents=True, exist_ok=True)
        (model_times.FOLDER / name).write_text(json.dumps(content))

    def test_nothing_is_recorded(self):
        for make in (model_times.calls, model_times.step_table, model_times.spread, model_times.others,
                     model_times.parts, model_times.gains, model_times.layers):
            with self.subTest(make.__name__):
                head, *rows = make()
                self.assertTrue(rows and all(set(row.split("  ")[-1].strip()) == {"-"} for row in rows))
                self.assertEqual({len(head)}, {len(row) for row in rows})

    def test_another_folder_than_the_root(self):
        program = pathlib.Path(model_times.__file__).resolve()
        done = subprocess.run([sys.executable, program, "steps"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "model_times.py: docs/results/model: not found here; run it in the repository's root\n"))

    def test_calls(self):
        self.record("calls.json", CALLS)
        self.assertEqual([row.split()[1:] for row in model_times.calls()[1:]],
                         [["-", "2.25", "7.50", "-", "-", "-"], ["ABI", "-", "-", "-", "-", "-", "-"]])

    def test_steps(self):
        self.record("model.json", MODEL)
        rows = {row.rpartition("  ")[0].split("  ")[0].strip(): row.split()[-7:] for row in model_times.step_table()}
        self.assertEqual(rows["ours"], ["-", "-", "-", "-", "5.12", "-", "-"])
        self.assertEqual(rows["grouped_mm, torch.compile"], ["-", "-", "-", "-", "-", "-", "40.0"])
        self.assertEqual([row.split()[0] for row in model_times.others()[1:]], ["eager", "batched_mm"])

    def test_a_speed_up_is_a_quotient_of_recorded_times(self):
        self.record("model.json", {"steps": [{"experts": name, "mode": "graph", "batch": 16, "ms": ms}
                                             for name, ms in (("grouped_mm", 6.0), ("ours", 4.0))], "prefill": []})
        rows = [row.split() for row in model_times.step_table()]
        self.assertIn(["speed-up", "-", "-", "-", "-", "1.50", "-", "-"], rows)
        self.assertIn(["speed-up,", "torch.compile", *"-------"], rows)
        self.assertEqual(len(model_times.others()), 3)

    def test_spread(self):
        self.record("model.json", {"steps": [{"experts": "ours", "mode": "graph", "batch": 16, "ms": 5.0, "p10": 4.251,
                                              "p90": 6.0}]})
        self.assertEqual([row.split()[1:] for row in model_times.spread()[1:]],
                         [["-", "-", "-"], ["-", "4.25", "to", "6.00", "-"]])

    def test_parts(self):
        self.record("model.json", MODEL)
        rows = [row.split() for row in model_times.parts()]
        self.assertIn(["ours,", "64", "0.010", "0.002", "9.001", "0.300", "0.100", "9.41", "-"], rows)
        self.assertIn(["ours,", "1", "-", "-", "-", "-", "-", "-", "-"], rows)
        self.assertEqual([model_times.step_ms(*of) for of in (("ours", "graph", 16), ("ours", "eager", 16))], [5.125, None])

    def test_gains(self):
        theirs = {"gate": 30.0, "align": 0.0, "experts": 200.0, "attention": 120.0, "rest": 50.0}
        ours = {"gate": 10.0, "align": 10.0, "experts": 90.0, "attention": 120.0, "rest": 50.0}
        self.record("model.json", {"parts": [{"parts_of": 16, "experts": name, "parts": one}
                                             for name, one in (("grouped_mm", theirs), ("ours", ours))]})
        self.assertEqual([row.split()[-2] for row in model_times.gains()[1:]],
                         ["50.0", "2.00", "25.0", "5.0", "1.43"])
        # of the 61 layers, attention counts 61 / 3 times, the other parts 58 / 2 times, and the rest once or 29 times
        self.assertEqual(model_times.all_layers(theirs), (2440 + 29 * 230 + 50, 2440 + 29 * 280))
        self.assertEqual([row.split()[-4:-1] for row in model_times.layers()[1:]],
                         [["1.49", "to", "1.61"], ["8.2", "to", "9.5"]])

    def test_bars_are_fractions_of_the_step_of_grouped_mm(self):
        theirs = {"gate": 100.0, "align": 0.0, "experts": 500.0, "attention": 300.0, "rest": 100.0}
        ours = {**theirs, "gate": 50.0, "align": 20.0, "experts": 230.0}
        self.record("model.json", {"parts": [{"parts_of": batch, "experts": name, "parts": one} for batch in (1, 16, 64)
                                             for name, one in (("grouped_mm", theirs), ("ours", ours))]})
        self.assertEqual(model_times.bars()["groups"][0]["rows"],
                         [{"label": "grouped_mm", "parts": [0.1, 0.5, 0.3, 0.1], "text": "1.00 ms"},
                          {"label": "ours", "parts": [0.05, 0.25, 0.3, 0.1], "text": "0.70 ms, 1.43 times as fast"}])

    def test_a_span(self):
        self.assertEqual(model_times.format_range([1.249, 1.251], 2), "1.25")
        self.assertEqual(model_times.format_range([2, 1], 2), "1.00 to 2.00")


if __name__ == "__main__":
    unittest.main()
