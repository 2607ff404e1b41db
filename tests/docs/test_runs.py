"""Tests that a run's arrays are made only once even if two tools need them at the same time, and that a report stored by
`ninja run` is used unless the program is newer."""
import os
import pathlib
import unittest

import course
import runs

MEANWHILE = """#!/bin/sh
mkdir -p "$2" build/docs/runs/02_first.arrays
echo here > "$2/ids.npy"
echo meanwhile > build/docs/runs/02_first.arrays/ids.npy
"""


class Runs(course.Course):
    def make_course(self):
        course.write("build/cpu/02_first", MEANWHILE)
        pathlib.Path("build/cpu/02_first").chmod(0o755)

    def test_a_folder_that_another_tool_made_meanwhile_is_taken(self):
        self.assertEqual((runs.arrays("build", "02_first") / "ids.npy").read_text(), "meanwhile\n")
        self.assertEqual([path.name for path in pathlib.Path("build/docs/runs").iterdir()], ["02_first.arrays"])

    def test_a_report_that_ninja_run_has_stored(self):
        course.write("build/cpu/03_second", "#!/bin/sh\necho made\n", 0o755)
        self.assertEqual(runs.report_path("build", "03_second").read_text(), "made\n")
        course.write("build/cpu/run/03_second.json", "stored\n")
        os.utime("build/cpu/03_second", (1, 1))
        self.assertEqual(runs.report_path("build", "03_second").read_text(), "stored\n")
        os.utime("build/cpu/run/03_second.json", (0, 0))
        self.assertEqual(runs.report_path("build", "03_second").read_text(), "made\n")


if __name__ == "__main__":
    unittest.main()
