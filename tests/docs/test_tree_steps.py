# run: $b
"""Tests tree_steps.py, which shows an array in shared memory after each barrier: a chapter's tree, hand-written
traces, and inputs that are rejected."""
import json
import os
import subprocess
import sys
import unittest

import course
from course import ROOT, access, barrier, write
import tree_steps

BUILD = course.build_folder()
TOOL = ROOT / "docs" / "tools" / "tree_steps.py"


def store(size, offset, value):
    return access("shared_store", size, [offset], [value])


class Steps(course.Course):
    def trace(self, *events, **more):
        """Writes t.json, the trace of a kernel with 16 words of dynamic shared memory, starting at byte 64."""
        flat = [event for part in events for event in (part if isinstance(part, list) else [part])]
        write("t.json", json.dumps({**course.trace(flat or barrier(0), 64, 64), **more}))

    def steps(self, words):
        return course.call(tree_steps.main, words, "t.json")

    def shows(self, words, *lines):
        self.assertEqual(self.steps(words), (0, "\n".join(lines)))

    def refuses(self, message, words="0-0"):
        with self.subTest(words=words, message=message):
            self.assertEqual(self.steps(words), (2, f"tree_steps: {message}"))

    def run_chapter(self, counts):
        source = "chapters/08_align_blelloch/align.cu"
        write(source, (ROOT / source).read_text())
        subprocess.run(
            [ROOT / BUILD / "cpu" / "08_align_blelloch", "--counts", counts, "--block-size", "1", "--kernel", "large",
                        "--trace", "t.json"], stdout=subprocess.DEVNULL, check=True)

    def test_a_chapters_tree(self):
        self.run_chapter("3,1,7,0,4,1,6,3")
        self.shows("0-7", "word                0   1   2   3   4   5   6   7",
                   "barrier 1, count    0   0   0   0   0   0   0   0",
                   "barrier 2, count    3   1   7   0   4   1   6   3",
                   "barrier 3, up       3   4   7   7   4   5   6   9",
                   "barrier 4, up       3   4   7  11   4   5   6  14",
                   "barrier 5, up       3   4   7  11   4   5   6   0",
                   "barrier 6, down     3   4   7   0   4   5   6  11",
                   "barrier 7, down     3   0   7   4   4  11   6  16",
                   "barrier 8, down     0   3   4  11  11  15  16  22")
        self.shows("2-3", "word                2   3", "barrier 1, count    0   0", "barrier 2, count    7   0",
                   "barrier 3, up       7   7", "barrier 4, up       7  11", "barrier 6, down     7   0",
                   "barrier 7, down     7   4", "barrier 8, down     4  11")
        self.run_chapter("70,5")
        self.shows("0-1", "word                0   1", "barrier 1, count    0   0", "barrier 2, count   70   5",
                   "barrier 3, up      70   0", "barrier 4, down     0  70")

    def test_unwritten_words_negative_ones_and_the_end(self):
        self.trace(access("shared_store", 4, [60, 64, None, 72, 128],
                          ["0x00000007", "0xffffffff", None, "0x000186a0", "0x00000009"]), barrier(0),
                   store(4, 64, "0xffffffff"), barrier(1), store(4, 68, "0x00000002"), barrier(2),
                   store(4, 64, "0x00000001"))
        self.shows("0-2", "word             0       1       2", "barrier 1       -1       -  100000",
                   "barrier 3       -1       2  100000", "end              1       2  100000")
        self.shows("14-15", "word   14  15")

    def test_wide_stores_are_several_words(self):
        self.trace(store(16, 64, "0x00000004000000030000000200000001"), barrier(0),
                   store(8, 68, "0x0000000600000005"), barrier(1))
        self.shows("0-3", "word        0  1  2  3", "barrier 1   1  2  3  4", "barrier 2   1  5  6  4")
        self.shows("1-2", "word        1  2", "barrier 1   2  3", "barrier 2   5  6")

    def test_atomics(self):
        self.trace(store(4, 64, "0x00000000"), barrier(0), access("atomic", 4, [64, 64], ["0x00000000", "0x00000005"]),
                   barrier(1), barrier(2), access("shared_load", 4, [64], ["0x0000000a"]),
                   access("atomic", 4, [64], ["0x0000000a"]), barrier(3))
        self.shows("0-0", "word         0", "barrier 1    0", "barrier 2   10", "barrier 4    ?")
        self.trace(access("atomic", 4, [64], ["0x00000000"]), barrier(0), barrier(1),
                   access("atomic", 4, [64], ["0x00000001"]), barrier(2))
        self.shows("0-0", "word        0", "barrier 1   ?", "barrier 3   ?")
        self.trace(store(4, 64, None), barrier(0), store(4, 64, None), barrier(1),
                   access("shared_load", 4, [64], ["0x00000003"]))
        self.shows("0-0", "word        0", "barrier 1   ?", "barrier 2   3")

    def test_global_memory_is_elsewhere(self):
        self.trace(store(4, 64, "0x00000001"), access("atomic", 4, [64], ["0x00000001"], "global"),
                   access("global_store", 4, [64], ["0x00000002"], "global"), barrier(0))
        self.shows("0-0", "word        0", "barrier 1   1")

    def test_parts_of_words(self):
        for event in (store(2, 66, "0x0001"), access("shared_load", 2, [64], ["0x0001"])):
            self.trace(event)
            self.refuses("t.json: it has accesses to parts of these words")
            self.shows("1-1", "word   1")

    def test_ranges_that_are_rejected(self):
        self.trace()
        self.refuses("t.json: k, which is traced, has 16 words of dynamic shared memory; 15 to 16 are wanted; "
                     "PROGRAM --trace-kernel NAME traces another kernel", "15-16")
        for words in ("", "3", "-", "0-", "3-2", "0-64", "0-7x", "x0-7", " 0-7", "-1-3", "1000000-1000000"):
            self.refuses(f"'{words}' is no range of words: FIRST-LAST, as in 0-7, with at most 64 words", words)

    def test_traces_that_are_rejected(self):
        self.trace(truncated=True)
        self.refuses("t.json: the kernel did more than the trace holds")
        for text in ('{"events": []}', "[]", '{"dynamic_shared": null, "truncated": false, "events": []}'):
            write("t.json", text)
            self.refuses("t.json: valid JSON, but no trace of a kernel; PROGRAM --trace=FILE.json writes one")
        for text in ("[", '{"events": [{"kind": "sto'):
            write("t.json", text)
            self.refuses(f"t.json: not valid JSON: it ends at byte {len(text)}, within a value (is it complete?)")

    def test_files_and_arguments(self):
        self.refuses("t.json: No such file or directory")
        self.assertEqual(course.call(tree_steps.main), (2, "tree_steps: usage: tree_steps.py FIRST-LAST TRACE.json"))
        self.trace()
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        for environment in (buffered, {**buffered, "PYTHONUNBUFFERED": "1"}):
            with open("/dev/full", "w") as full:
                done = subprocess.run([sys.executable, TOOL, "0-1", "t.json"], stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False, env=environment)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "tree_steps: standard output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
