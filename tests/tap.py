"""Runs a Python test and reports in the Test Anything Protocol: python3 tests/tap.py FILE [ARGUMENT...]

FILE's unittest tests are run, and each subtest counts as a test. The tests find the arguments in sys.argv[1:] and may
import modules from FILE's folder or from tests/. A FILE that does not import unittest prints TAP itself.
"""
import importlib.util
import pathlib
import re
import runpy
import sys
import unittest


class TapResult(unittest.TestResult):
    """Prints a line for each test or subtest when it ends, followed by the reason if it failed. Captures what a test
    prints."""

    def __init__(self):
        super().__init__()
        self.buffer = True
        self.output = sys.stdout
        self.count = 0
        self.have_subtests = set()

    def report(self, test, ok, more="", reason=""):
        self.count += 1
        name = test.id().split(".", 1)[-1].replace("\n", " ").replace("#", "")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}{more}", file=self.output)
        for line in reason.splitlines():
            print(f"# {line}", file=self.output)
        self.output.flush()

    def addSuccess(self, test):
        if test.id() not in self.have_subtests:
            self.report(test, True)

    def addSkip(self, test, reason):
        self.report(test, True, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.have_subtests.add(test.id())
        self.report(subtest, err is None, reason="" if err is None else self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(test, False, reason=self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.report(test, False, reason=self.errors[-1][1])

    def addExpectedFailure(self, test, err):
        self.report(test, True)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.report(test, False, reason="it was expected to fail")


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    sys.argv = sys.argv[1:]
    sys.path[:0] = [str(path.parent), str(pathlib.Path(__file__).resolve().parent)]
    if not re.search(r"^(import|from) unittest\b", path.read_text(), re.MULTILINE):
        runpy.run_path(str(path), run_name="__main__")
        return 0
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = TapResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    print(f"1..{result.count}")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
