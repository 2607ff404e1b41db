# run in all: $b
"""Tests that the figures match their current data and are readable on light and dark pages, and that bad inputs are
rejected."""
import ast
import collections
import csv
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

import course
from course import ROOT
import chain_steps
import choices
import counters
import figures
import kernel_steps
import layer_steps
import plot_data
import results
import role_steps
import runs
import times
import trace

BUILD = course.build_folder()
FOLDER = ROOT / "docs" / "figures"
WITH_MATPLOTLIB = course.python_with("matplotlib")
WIDTHS = """
import json, sys
from matplotlib.font_manager import findfont, get_font
font = get_font(findfont("DejaVu Sans"))
font.set_size(100, 72)
print(json.dumps([font.load_char(ord(letter)).linearHoriAdvance / 65536 / 100 for letter in sys.argv[1]]))
"""  # prints letters' widths, relative to the font's size
NEEDS_MATPLOTLIB = unittest.skipUnless(WITH_MATPLOTLIB, "no python3 here has matplotlib")
ROUTING = "15_one_launch"
MOE = ("11b_moe_tiled", "11c_moe_tensor_cores", "11d_moe_async_ring", "16a_layer_bulk_copies",
       "16b_layer_warpgroup_products")
GATE = ("02_warp_per_group", "03_divergence_free", "04_bitonic_sort", "05_fused_gate", "13a_gate_bound",
        "13b_gate_lane_per_group", "13c_gate_fewer_instructions")
ALIGN = ("06_align_serial", "07_align_vector_pad", "08_align_blelloch", "09_align_warp_scan", "10_align_parallel_fill",
         "14a_align_bit_ranks", "14b_align_published_counts")
LARGE = "--block-size 1 --kernel large"


def setUpModule():
    unittest.addModuleCleanup(os.chdir, os.getcwd())
    os.chdir(ROOT)


def texts(name):
    """Returns all texts of a committed figure, in order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", (FOLDER / f"{name}.svg").read_text())


def recorded(name):
    """Checks whether a chapter's times are recorded; a new chapter may have none yet."""
    return (ROOT / "docs" / "results" / "h200" / f"{name}.json").exists()


def numbers(name):
    return [int(text) for text in texts(name) if re.fullmatch(r"-?\d+", text)]


def holds(sequence, part):
    return any(list(part) == sequence[at:at + len(part)] for at in range(len(sequence)))


def tool(*arguments, python=(sys.executable,)):
    """Runs figures.py. Returns its exit status and its output."""
    done = subprocess.run([*python, "docs/tools/figures.py", "--build", BUILD, *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Committed(unittest.TestCase):
    def test_they_are_up_to_date(self):
        self.assertEqual(tool("--check"), (0, ""))
        self.assertEqual({path.stem for path in FOLDER.iterdir()}, set(figures.FIGURES))

    def test_what_every_one_must_be(self):
        """Checks that each figure is valid XML with a description for screen readers, has a card as its background, is
        readable, is a small file and loads no other files."""
        for path in FOLDER.iterdir():
            with self.subTest(path.name):
                text = path.read_text()
                svg = xml.dom.minidom.parseString(text).documentElement
                words = [svg.getElementsByTagName(name)[0].firstChild.data for name in ("title", "desc")]
                card = svg.getElementsByTagName("rect")[0]
                self.assertGreaterEqual(min(map(len, words)), 20)
                self.assertEqual((card.getAttribute("class"), float(card.getAttribute("width"))),
                                 ("card", float(svg.getAttribute("width")) - 1))
                self.assertGreaterEqual(min(float(size) for size in re.findall(r"([\d.]+)px", text)), 12)
                self.assertLessEqual(max(float(svg.getAttribute("width")), 400), 910)
                self.assertLess(path.stat().st_size, 60000)
                self.assertEqual(
                    [link for link in re.findall(r"""(?:href|src)=["']([^"']*)""", text) if link[0] != "#"], [])
                self.assertIsNone(re.search(r"<script|<image|<foreignObject|@import|url\(", text))
                self.assertTrue(all("px system-ui," in font for font in re.findall(r"font: [^;}]*", text)))

    @NEEDS_MATPLOTLIB
    def test_text_stays_on_its_card(self):
        """Checks that all text fits on its card, even in DejaVu Sans, the widest of the fonts."""
        svgs = [(path.name, xml.dom.minidom.parseString(path.read_text()).documentElement) for path in FOLDER.iterdir()]
        characters = sorted(
            {letter for _, svg in svgs for text in svg.getElementsByTagName("text") for letter in text.firstChild.data})
        widths = dict(
            zip(characters, json.loads(subprocess.check_output([*WITH_MATPLOTLIB, "-c", WIDTHS, "".join(characters)]))))
        for name, svg in svgs:
            looks = dict(re.findall(r"\.(\w+)\{([^}]*)\}", svg.getElementsByTagName("style")[0].firstChild.data.split(
                "@media")[0]))
            beyond = []
            for text in svg.getElementsByTagName("text"):
                look, words = looks[text.parentNode.getAttribute("class")], text.firstChild.data
                length = sum(widths[letter] for letter in words) * float(re.search(r"([\d.]+)px", look)[1])
                left = float(text.getAttribute("x")) - length * (0.5 if "middle" in look else "anchor: end" in look)
                if left < 0 or left + length > float(svg.getAttribute("width")):
                    beyond.append(words)
            with self.subTest(name):
                self.assertEqual(beyond, [])

    def test_every_colour_has_one_for_dark_pages(self):
        for path in FOLDER.iterdir():
            with self.subTest(path.name):
                sheets = re.search(r"<style>(.*)\n@media \(prefers-color-scheme:dark\)\{(.*)\}</style>",
                                   path.read_text()).groups()
                colours = [{name: re.findall(r"(fill|stroke): ?(#\w{6})", style)
                            for name, style in re.findall(r"\.(\w+)\{([^}]*)\}", sheet)} for sheet in sheets]
                for name, of_class in colours[0].items():
                    in_dark = colours[1].get(name, [])
                    self.assertEqual([kind for kind, _ in in_dark], [kind for kind, _ in of_class])
                    self.assertTrue(all(a != b for a, b in zip(of_class, in_dark)))
                self.assertEqual(re.findall(r'(?:fill|stroke|style)="', path.read_text()), [])

    def test_contrast(self):
        """Checks the contrast between text and each of its possible backgrounds, and between lines and the card."""
        source = (ROOT / "docs" / "tools" / "figure_style.py").read_text()
        themes = ast.literal_eval(re.search(r"^THEMES = (\{.*?^\})", source, re.M | re.S)[1])
        self.assertEqual(len({light for light, _ in themes.values()}), len(themes))

        def luminance(colour):
            parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        def contrast(one, other, theme):
            low, high = sorted(luminance(themes[name][theme]) for name in (one, other))
            return (high + 0.05) / (low + 0.05)

        for theme in 0, 1:
            for name in themes:
                if name in ("card", "ground") or name.startswith(("light_", "rank_")):
                    self.assertGreaterEqual(contrast("ink", name, theme), 4.5, name)
                elif name not in ("edge", "grid", "pale"):
                    self.assertGreaterEqual(contrast("card", name, theme), 2, name)

    def test_the_tree(self):
        found = numbers("08_tree")
        self.assertEqual((found[:8], found[-8:]), ([3, 1, 7, 0, 4, 1, 6, 3], [0, 3, 4, 11, 11, 15, 16, 22]))
        self.assertIn("25 is saved as the total, and the root becomes 0", texts("08_tree"))
        self.assertEqual([step["aside_of"] for step in figures.read_data("08_tree", BUILD)["steps"]],
                         [[], [], [3, 7], [], [], []])

    def test_the_scan_ends_with_the_sums_of_its_counts(self):
        counts = [[3, 1, 7, 0, 4, 1, 6, 3], [1, 6, 3, 7, 3, 5, 2, 1]]
        data = figures.read_data("09_scan", BUILD)
        for warp, first in enumerate((0, sum(counts[0]))):
            before = [first + sum(counts[warp][:lane]) for lane in range(8)]
            self.assertEqual(data["scans"][warp][0], counts[warp] + [0] * 24)
            self.assertEqual((data["scans"][warp][3][7], data["begins"][warp][:8]), (data["sums"][warp], before))
            for part in counts[warp], before:
                self.assertTrue(holds(numbers("09_scan"), part))

    def test_how_far_lanes_reach(self):
        for name, expected in (("04_bitonic", "1 2 1 4 2 1 8 4 2 1 16 8 4 2 1"), ("02_butterfly", "16 8 4 2 1"),
                               ("05_tokens", "4 2 1")):
            self.assertEqual(" ".join(text[2:] for text in texts(name) if text.startswith("^ ")), expected)

    def test_what_the_lanes_hold(self):
        """Checks the results of the butterflies and of the sort in the traces, and checks that the figures show these
        values."""
        for name, program, together in (("02_butterfly", "02_warp_per_group", 32), ("05_tokens", "05_fused_gate", 8)):
            data = figures.read_data(name, BUILD)
            for lane in range(32):
                first = lane - lane % together
                best = max(trace.as_float(word) for word in data["values"][0][first:first + together])
                self.assertEqual(trace.as_float(data["values"][-1][lane]), best)
            self.assertTrue(holds(texts(name), [trace.short_number(word) for word in data["values"][0]]), program)
        data = figures.read_data("04_bitonic", BUILD)
        floats = [trace.as_float(word) for word in data["values"][0]]
        self.assertEqual([trace.as_float(word) for word in data["values"][-1]], sorted(floats, reverse=True))
        self.assertTrue(holds(texts("04_bitonic"), [trace.short_number(word) for word in data["values"][-1]]))

    def test_the_butterfly_of_chapter_01s_token(self):
        rows = [pathlib.Path("common/data/router/layer2_logits.npy").read_bytes()[128:],
                pathlib.Path("chapters/02_warp_per_group/xml_logits.npy").read_bytes()[128:]]
        self.assertEqual(rows[1], rows[0][5 * 1024:6 * 1024], "chapter 01 follows row 5 of the data")
        data = figures.read_data("02_butterfly", BUILD)
        self.assertEqual((data["ids"][0], data["ids"][-1]), (list(range(160, 192)), [172] * 32))

    def test_each_lane_loads_half_a_sector(self):
        data = figures.read_data("05_load", BUILD)
        self.assertEqual(data["offsets"], [[128 * lane + first for lane in range(8)] for first in (0, 16)])
        self.assertEqual(data["sectors"], 32)
        of_02 = trace.read(runs.trace(BUILD, "02_warp_per_group"))
        with self.assertRaisesRegex(ValueError, "warp 0 has 0 loads of 16 bytes per lane, not 2"):
            kernel_steps.own_loads(of_02, 2, 8)

    def test_all_but_one_warp_wait_while_one_thread_adds_up(self):
        self.assertIn("warps 8 to 31", texts("06_waiting"))
        self.assertEqual(texts("06_waiting").count("waits"), 8)
        data = figures.read_data("06_waiting", BUILD)
        self.assertEqual([row["intervals"][2] for row in data["rows"]], [[["scan", 1, 514]]] + [[]] * 8)
        data = figures.read_data("10_small_kernel", BUILD)
        self.assertEqual([(row["first"], row["last"]) for row in data["rows"]], [(0, 3), (4, 7), (8, 8)])

    def test_requests_of_stores(self):
        self.assertEqual([text for text in texts("07_stores") if text.startswith("Chapter")],
                         ["Chapter 06: 4 bytes per lane, 8 requests, 32 sectors",
                          "Chapter 07: 16 bytes per lane, 2 requests, 32 sectors"])

    def test_half_of_the_lanes_run_in_each_step_then_all(self):
        self.assertEqual([text for text in texts("03_split") if text.endswith(" active")],
                         ["16 active"] * 5 + ["32 active"] * 5)
        self.assertEqual(texts("03_split").count("new"), 160)

    def test_each_element_has_one_lane(self):
        """Checks the fragments: a lane holds 8 elements of A, 4 of B and 4 sums of D, and each cell represents two of
        them."""
        found = figures.read_data("11c_fragments", BUILD)
        for name, each in (("a", 8), ("b", 4), ("d", 4)):
            held = collections.Counter(lane for row in found[name] for lane in row)
            self.assertEqual(held, dict.fromkeys(range(32), each), name)
        shown = collections.Counter(numbers("11c_fragments"))
        self.assertEqual(shown[31], 4 + 2 + 2)

    def test_the_matrices_of_an_ldmatrix(self):
        data = figures.read_data("11c_quarters", BUILD)
        self.assertEqual((data["weights"], data["tokens"]), ([[0, 0], [8, 0], [0, 8], [8, 8]],
                                                             [[0, 0], [0, 8], [8, 0], [8, 8]]))

    def test_lines_alternate_between_gate_and_up(self):
        data = figures.read_data("11c_copies", BUILD)
        self.assertEqual(data["threads"], list(range(0, 256, 16)))
        self.assertEqual(data["copies"][:8], [[[array, 8 * copy + row] for array in ("w1", "w3") for row in range(8)]
                                              for copy in range(8)])
        self.assertEqual(data["copies"][8:], [[["token", slot] for slot in range(16)]])

    def test_a_chunk_is_in_all_banks(self):
        rows = figures.read_data("11d_chunks", BUILD)["rows"]
        for chunk in range(16):
            self.assertEqual(sorted(row.index(chunk) % 8 for row in rows), list(range(8)))

    def test_warps_share_a_tile(self):
        data = figures.read_data("11d_tile", BUILD)
        self.assertEqual(data["tokens"], 192)
        found = collections.Counter((row, token) for warp in data["warps"] for row in warp["rows"]
                                    for token in warp["tokens"])
        self.assertEqual((len(found), set(found.values())), (256 * 192, {1}))

    def test_a_ring_is_filled_while_it_is_multiplied(self):
        done = [(what, step) for what, step, _ in figures.read_data("11d_ring", BUILD)["done"]]
        self.assertEqual(done, [("copy", 0), ("copy", 1), *(
            pair for step in range(6) for pair in (("wait", step), ("copy", step + 2), ("multiply", step))
            if pair[1] < 6)])

    def test_blocks(self):
        found = numbers("06_blocks")
        self.assertTrue(holds(found, [2, 4, 9, 11, 13, 13, 1, 13, 13, 6, 7, 8, 10, 12, 13, 0, 3, 5, 13, 13, 13]))
        self.assertIn("num_tokens_post_padded = 18", texts("06_blocks"))

    def test_the_bound_separates_the_candidates_whose_ranks_are_the_answer(self):
        data = figures.read_data("13a_bound", BUILD)
        raw = (runs.arrays(BUILD, "13a_gate_bound", "--num-tokens 4") / "topk_ids.npy").read_bytes()
        chosen = struct.unpack("<8i", raw[-64:-32])
        self.assertEqual([text for text in texts("13a_bound") if text.startswith("expert ")],
                         [f"expert {id_}" for id_ in chosen])
        ranks = dict(zip(data["candidates"], data["ranks"]))
        self.assertEqual([ranks[id_] for id_ in chosen], list(range(8)))
        self.assertEqual(numbers("13a_bound"), [ranks[id_] for id_ in sorted(chosen)])
        self.assertEqual(data["bound"], min(data["choice"][expert] for expert in data["second"]))
        self.assertEqual(data["candidates"], [expert for expert, choice in enumerate(data["choice"])
                                              if expert // 32 in data["stay"] and choice >= data["bound"]])

    def test_two_votes_rank_the_groups_by_their_scores(self):
        data, shown = figures.read_data("13a_ranks", BUILD), texts("13a_ranks")
        by_rank = sorted(range(8), key=lambda group: data["ranks"][group])
        self.assertEqual(by_rank, sorted(range(8), key=lambda group: -data["scores"][group]))
        for vote in data["votes"]:
            for lane, bit in enumerate(vote):
                self.assertIn(f"{lane}: {bit}", shown)

    def events(self, program, snippet, kind, operation=None):
        """Returns the events of this kind in a snippet of the kernel, from a run with four tokens."""
        read = trace.read(runs.trace(BUILD, program, "--num-tokens 4"))
        return [event for event, name in zip(read["events"], kernel_steps._snippets(read))
                if name == snippet and event["kind"] == kind and event.get("operation") == operation]

    def stored(self, program, snippet, room):
        """Returns the words that each lane stores in its token's list of `room` positions, with their positions."""
        events, stored = self.events(program, snippet, "shared_store"), collections.defaultdict(list)
        begin = min(event["offset"][lane] for event in events for lane in event["active"])
        for event in events:
            for lane in event["active"]:
                position = (event["offset"][lane] - begin) // event["bytes"]
                self.assertEqual(position // room, lane // 8)
                stored[lane].append((position % room, event["value"][lane]))
        return stored

    def test_lanes_count_end_and_write_as_in_the_run(self):
        tokens, name = figures.read_data("13b_lanes", BUILD)["tokens"], "13b_gate_lane_per_group"
        counts, ends = ([value for token in tokens for value in token[column]] for column in ("counts", "ends"))
        self.assertEqual(self.events(name, "many_candidates", "shuffle", "__shfl_up_sync")[0]["in"], counts)
        self.assertEqual(self.events(name, "many_candidates", "shuffle", "__shfl_sync")[0]["in"], ends)
        lanes = [(lane, lane % 8, counts[lane], ends[lane]) for lane in range(32)]
        stored, shown = self.stored(name, "many_candidates", 257), numbers("13b_lanes")
        for number, token in enumerate(tokens):
            self.assertTrue(holds(shown, sum(lanes[8 * number:8 * number + 8], ())))
            self.assertTrue(holds(shown, sum(zip(token["candidates"], token["ranks"]), ())))
            for lane in range(8 * number, 8 * number + 8):
                at = range(ends[lane] - counts[lane], ends[lane])
                self.assertEqual([(position, ~word & 0xffffffff) for position, word in stored[lane]],
                                 [(position, token["candidates"][position]) for position in at])
                self.assertEqual(f"lane {lane}" in texts("13b_lanes"), lane in stored and bool(stored[lane]))
        raw = (runs.arrays(BUILD, name, "--num-tokens 4") / "topk_ids.npy").read_bytes()
        self.assertEqual(struct.unpack("<32i", raw[-128:]), tuple(
            token["candidates"][token["ranks"].index(rank)] for token in tokens for rank in range(8)))

    def test_the_mask_has_the_bits_of_the_ids_that_the_lane_stored(self):
        data, name = figures.read_data("13c_mask", BUILD), "13c_gate_fewer_instructions_many"
        stored = self.stored(name, "list", 40)[data["lane"]]
        self.assertEqual(stored, list(enumerate(data["listed"], data["position"])))
        bits = [int(160 + e not in data["listed"]) for e in range(32)]
        self.assertEqual((data["below"], data["steps"][-1]), (bits, [bits[:16], bits[16:]]))
        self.assertEqual([int(value < 0) for value in data["difference"]], bits)
        self.assertEqual(int(data["mask"], 16), sum(1 << 191 - id_ for id_ in data["listed"]))
        bound = self.events(name, "many_bound", "shuffle", "__shfl_xor_sync")[-1]
        least = min(trace.as_float(bound[column][data["lane"]]) for column in ("in", "out"))
        self.assertAlmostEqual(least, data["bound"], delta=1e-5)
        self.assertIn(f"bound ({least:.3f})", texts("13c_mask"))
        for part in bits, [1 - bit for bit in bits], data["listed"], *data["steps"][3]:
            self.assertTrue(holds(numbers("13c_mask"), part))

    def test_a_rank_is_a_number_of_bits(self):
        ids = [1, 2, 2, 0, 3, 0, 2, 0, 2, 3, 1, 1, 0, 2, 0, 2]
        found = numbers("14a_bit_table")
        data = figures.read_data("14a_bit_table", BUILD)
        self.assertEqual((data["experts"], [row["begin"] for row in data["rows"]]), (ids, [0, 8, 12, 20]))
        self.assertEqual(data["ranks"], [ids[:at].count(id_) for at, id_ in enumerate(ids)])
        for expert, row in enumerate(data["rows"]):
            self.assertEqual(row["bits"], [int(id_ == expert) for id_ in ids])
            self.assertTrue(holds(found, row["bits"]))

    def test_rows_of_two_launches(self):
        rows = [[1, 1, 2, 0], [2, 0, 1, 1], [0, 2, 1, 1], [2, 0, 2, 0]]
        self.assertEqual(figures.read_data("14b_rows", BUILD)["launches"], [rows, rows[:2]])
        for row in rows:
            self.assertTrue(holds(numbers("14b_rows"), [1, *row]))

    def test_a_block_computes_its_slots(self):
        data = figures.read_data("14b_slots", BUILD)
        self.assertEqual((data["all"], data["earlier"], data["begins"]), ([5, 3, 6, 2], [3, 1, 3, 1], [3, 9, 15, 21]))
        self.assertEqual(data["sorted"], [[10, 1, 9], [11, 1, 10], [8, 2, 15], [9, 3, 21]])
        self.assertIn("slot 15", texts("14b_slots"))

    def test_uses_of_a_ring(self):
        uses = sum(figures.read_data("16a_ring", BUILD)["rounds"], [])
        self.assertEqual([use for use, _, consumer in uses if consumer is None], [0, 5, 10, 15, 20])
        self.assertEqual(uses[17], [17, 3, 1])
        self.assertIn("use 17: step 3", texts("16a_ring"))

    def test_each_row_block_is_written_by_one_thread_block(self):
        data = figures.read_data("14a_five_ids", BUILD)
        self.assertEqual([one["expert"] for one in data["ids"]], [2, 0, 2, 1, 2])
        self.assertEqual([one["rank"] for one in data["ids"]], [0, 0, 1, 0, 2])
        self.assertEqual([one["block"] for one in data["ids"]], [2, 0, 4, 1, 3])
        self.assertEqual(data["ids"][0]["rows"], [0, 2])
        self.assertIn("row block 4", texts("14a_five_ids"))

    def test_blocks_sort_while_counts_are_on_their_way(self):
        stages = figures.read_data("14b_blocks", BUILD)["stages"]
        self.assertEqual(sum(stages.values()), 6880)
        self.assertIn("2,560 cycles", texts("14b_blocks"))
        self.assertEqual([text for text in texts("14b_blocks") if text.startswith("block ")], ["block 0", "block 1"])

    def test_sectors_of_weights(self):
        self.assertIn("1 request of 32 lanes: 32 sectors, 64 of 1024 bytes used.", texts("11a_sectors"))

    def test_other_blocks_write_the_pads(self):
        data = figures.read_data("10_parallel_fill", BUILD)
        self.assertEqual((data["slots"], data["blocks"], data["scatter_blocks"]), (32512, 3, 64))
        self.assertEqual([text for text in texts("10_parallel_fill") if text.startswith(("block ", "write pads"))],
                         ["block 0", "block 0", "block 1", "write pads", "block 2", "write pads"])

    def test_one_token_is_the_pages_example(self):
        data = figures.read_data("11a_token", BUILD)
        self.assertEqual([row["intermediate"] for row in data["rows"]], ["0", "1.76"])
        self.assertEqual([row["partial"] for row in data["rows"]], ["(0, 0)", data["output"]])
        self.assertEqual(texts("11a_token").count(data["output"]), 2)
        self.assertIn(f"= {data['output']}\n", (ROOT / "chapters/11a_moe_naive/README.md").read_text())

    def test_an_all_to_all_is_the_pages_example(self):
        ranks = figures.read_data("12_all_to_all", BUILD)["ranks"]
        # The first three are what list_rows fills in a run with these choices.
        self.assertEqual([[t for t, _ in rank["rows"]] for rank in ranks], [[0, 1, 1], [0]])
        self.assertEqual([rank["counts"] for rank in ranks], [[2, 1], [0, 1]])
        self.assertEqual([rank["sum_rows"] for rank in ranks], [[[0, -1], [1, 2]], [[-1, 0]]])
        self.assertEqual([rank["sent_sums"] for rank in ranks], [[6, 2, 4], [9]])
        self.assertEqual([text for text in texts("12_all_to_all") if text.startswith("token ") and ":" in text],
                         ["token 0: 6", "token 1: 2 + 4 = 6", "token 2: 9"])

    def test_a_threads_sums_in_a_tile(self):
        data = figures.read_data("11b_tile", BUILD)
        self.assertEqual(data["own"], [[row, column] for row in (1, 9) for column in (5, 21, 37, 53)])
        self.assertEqual(data["together"], [[1, column] for column in range(16)])
        self.assertEqual(numbers("11b_tile"), [1, 9, 5, 21, 37, 53])

    def test_words_are_ids_and_lead_to_neighbouring_slots(self):
        data = figures.read_data("15_words", BUILD)
        for number, block in enumerate(data["blocks"]):
            ids = [int(block["word"][-2 * at - 2:len(block["word"]) - 2 * at], 16) for at in range(8)]
            self.assertEqual((ids, block["earlier"], block["position"] // 8), (block["ids"], number, number))
            self.assertIn(block["word"], texts("15_words"))
            self.assertIn(f"in slot {data['blocks'][0]['slot'] + number}", texts("15_words"))

    def test_a_chain_of_kernels_is_the_pages_example(self):
        ends = [[row["parts"][-1][2] for row in timeline["rows"]] for timeline in
                figures.read_data("17_overlap", BUILD)["timelines"]]
        self.assertEqual(ends, [[20, 37, 54], [20, 30, 40]])
        self.assertEqual(numbers("17_overlap"), sum(ends, []))
        section = (ROOT / "chapters/17_overlapping_launches/README.md").read_text().split("### A chain by hand")[1]
        for name in ("FIRST", "START", "LOADS", "WORK"):
            self.assertRegex(section, rf"\b{getattr(chain_steps, name)} units")
        for end in sum(ends, []):
            self.assertRegex(section, rf"\bat {end}\b|\b{end} units")
        early = figures.read_data("17_trigger", BUILD)["timelines"][1]["rows"]
        self.assertEqual((early, numbers("17_trigger")), ([
            {"kernel": "A", "parts": [["work", 0, 20]]},
            {"kernel": "B", "parts": [["start", 0, 4], ["loads", 4, 7], ["wait", 7, 20], ["work", 20, 30]]},
            {"kernel": "C", "parts": [["start", 7, 11], ["loads", 11, 14], ["wait", 14, 30], ["work", 30, 40]]}],
            2 * [20, 30, 40]))

    def test_saved_times_are_those_recorded(self):
        recorded_us = {(row["num_tokens"], row["kernel"]): row["saved_us"] for row in json.loads(
            (ROOT / "docs/results/h200/17_overlapping_launches.json").read_text())[0]["rows"]
            if row["chain"] == "router, gate, align"}
        shown = [text for text in texts("17_saved") if text.endswith(" us")]
        for number, size in enumerate((1, 16)):
            three = [recorded_us[size, name] for name in ("router", "gate", "align")]
            self.assertEqual(shown[5 * number:5 * number + 5],
                             [f"{us:.2f} us" for us in [*three, sum(three), recorded_us[size, "all"]]])

    def test_arrivals_are_those_that_chapter_16a_initialises(self):
        kernel = (ROOT / "chapters/16a_layer_bulk_copies/moe.cu").read_text()
        names = {"WARP_SIZE": 32, "Tile::CONSUMER_WARPS": 4, "Tile::WARPS": 6}
        for name, figure in (("tile_ready", "16a_work_tile"), ("positions_ready", "16a_work_tile"),
                             ("tile_released", "16a_work_tile"), ("filled", "16a_stage"), ("emptied", "16a_stage")):
            expected, = re.findall(rf"mbarrier_init\(&shared\.{name}\[i\], (.*?)\);", kernel)
            for constant, value in names.items():
                expected = expected.replace(constant, str(value))
            drawn = [int(text) for arrow in figures.read_data(figure, BUILD)["arrows"] if arrow[1] == name
                     for text in re.findall(r"^\d+", arrow[4])]
            self.assertEqual(sum(drawn), eval(expected), name)

    def test_stages_pass_between_the_roles_of_chapter_16b(self):
        data = figures.read_data("16b_roles", BUILD)
        rows, stages = data["rows"], data["stages"]
        self.assertEqual((stages, [row["stage"] for row in rows]), (4, [0, 1, 2, 3, 0, 1]))
        for row in rows[stages:]:
            freed = [one["freed"] for one in rows[row["step"] - stages]["consumers"]]
            self.assertEqual((row["freed"], row["copy"][0] >= max(freed)), (max(freed), True))
        products = [one["multiply"] for row in rows for one in row["consumers"]]
        self.assertEqual([end for _, end in products[:-1]], [begin for begin, _ in products[1:]])  # no gaps
        path = runs.trace(BUILD, "16b_layer_warpgroup_products", "--num-tokens 16 --hidden-size 384 "
                          "--intermediate-size 128 --num-experts 1 --topk 1 --dtype bf16 --block-size 192")
        for kind in ("mma", "arrive", "arrive_copies"):
            broken = trace.read(path)
            ring, _ = role_steps.ring_barriers(broken)
            last = [event for event in broken["events"] if event["kind"] == kind or
                    event.get("operation") == kind and ring.keys() & event["offset"]][-1]
            broken["events"] = [event for event in broken["events"] if event is not last]
            with self.subTest(kind), self.assertRaisesRegex(ValueError, "do not pass stages on"):
                role_steps.roles(broken)

    def test_a_merge_of_lists_leaves_the_best_eight_in_all_lanes(self):
        data = figures.read_data("19_merge", BUILD)
        self.assertEqual([row["xor"] for row in data["rows"]], [None, 15, 23, 39])
        self.assertEqual(data["rows"][-1]["lanes"], 8 * list(range(1, 9)))
        first = data["rows"][0]["lanes"]
        self.assertEqual((sorted(first[:32]), first[32:]), (list(range(1, 33)), 32 * [None]))
        flow = figures.read_data("01_flow", BUILD)
        self.assertEqual((data["word"], sorted(data["kept"])),
                         (flow["word"], [group for group, one in enumerate(flow["groups"]) if one["stays"]]))
        mine, other = (first[lane] for lane in data["example"])
        self.assertLess(other, mine)  # so that the first step changes the example's lane
        waves = figures.read_data("19_waves", BUILD)
        self.assertEqual((waves["word"], waves["kept"]), (data["word"], data["kept"]))

    def test_a_models_step(self):
        for group in figures.read_data("18_step", BUILD)["groups"]:
            theirs, ours = (sum(row["parts"]) for row in group["rows"])
            self.assertAlmostEqual(theirs, 1, 3)
            self.assertEqual(group["rows"][1]["text"].split(", ")[1], f"{1 / ours:.2f} times as fast")

    def test_a_token_through_the_gate(self):
        raw = (runs.arrays(BUILD, "01_cpu_baseline", "--num-tokens 6") / "topk_ids.npy").read_bytes()
        self.assertEqual([text for text in texts("01_flow") if text.startswith("expert ")],
                         [f"expert {id_}" for id_ in struct.unpack("<8i", raw[-32:])])
        self.assertEqual((texts("01_flow").count("kept"), texts("01_flow").count("dropped")), (4, 4))


class Plots(unittest.TestCase):
    maxDiff = None

    def rows(self, program, column, **fields):
        recorded = json.loads((ROOT / "docs" / "results" / "h200" / f"{program}.json").read_text())
        fields = {"distribution": "router", "cache": "warm", "overlap": None, **fields}
        run, = [run for run in recorded if "rows" in run and re.search(rf"/{program}[ .]", run["command"]) and all(
            run.get(name, run.get("problem", {}).get(name)) == value for name, value in fields.items())]
        values = [(row["num_tokens"], row.get(column)) for row in run["rows"]]
        return [[tokens, value["median_us"] if isinstance(value, dict) else value] for tokens, value in values if value]

    def expected(self):
        """Returns the curves that the two timing plots should show, taken from the recorded runs."""
        rows = self.rows
        gate, align = {"dtype": "f32"}, {"block_size": 64, "kernel": "auto", "room": None, "capacity": None}
        return {"gate": {"PyTorch eager": rows("pytorch_gate", "eager_graph", **gate),
                         "PyTorch compiled": rows("pytorch_gate", "compiled_graph", **gate),
                         "01 cpu baseline": rows(GATE[0], "before", **gate), "floor": rows(GATE[0], "floor_us", **gate),
                         **{name.replace("_", " "): rows(name, "here", **gate) for name in GATE}},
                "align": {"CUB radix sort": rows("cub_align", "here", **align),
                          "floor": rows(ALIGN[-1], "floor_us", **align),
                          **{name.replace("_", " "): rows(name, "here", **align) for name in ALIGN if recorded(name)}}}

    def title(self, label):
        """Returns the title of a chapter's page in place of the chapter's name, and any other label as it is."""
        page = pathlib.Path(course.ROOT, "chapters", label.replace(" ", "_"), "README.md")
        return page.read_text().split("\n")[0].partition(" ")[2].partition(" {")[0] if page.is_file() else label

    def test_times_are_those_recorded_all_of_them(self):
        expected = self.expected()
        for operator, lines in expected.items():
            shown = figures.read_data(f"{operator}_times", BUILD)["lines"]
            self.assertEqual({line["label"]: line["points"] for line in shown}, lines)
            self.assertTrue(set(lines) <= set(texts(f"{operator}_times")))
        expected["moe"] = {"floor": self.rows(MOE[0], "floor_us"),
                           **{name.replace("_", " "): self.rows(name, "here") for name in MOE}}
        expected["routing"] = {"13c, then 14b, in two launches": self.rows(ROUTING, "before", dtype="f32"),
                               "floor": self.rows(ROUTING, "floor_us", dtype="f32"),
                               ROUTING.replace("_", " "): self.rows(ROUTING, "here", dtype="f32")}
        panels = figures.read_data("results", BUILD)["panels"]
        self.assertEqual(panels.keys(), expected.keys())
        for operator, lines in expected.items():
            lines.pop("PyTorch eager", None)
            few, many = 1, {"moe": 4096, "routing": 256}.get(operator, 65536)
            self.assertTrue(holds(texts("results"), [f"{few} token", f"{many:,} tokens"]))
            self.assertEqual({row["label"]: row["us"] for row in panels[operator]["rows"]},
                             {self.title(label): [dict(points)[few], dict(points)[many]]
                              for label, points in lines.items()})
            for row in panels[operator]["rows"]:
                self.assertTrue(holds(texts("results"), row["texts"]))
                self.assertTrue(holds(" ".join(texts("results")).split(), row["label"].split()))
                self.assertEqual(row["texts"], [times.format_us(us) for us in row["us"]])

    def test_counters_are_those_of_the_csv_reports(self):
        sums = {"shared_wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
                "global_sectors": ("global_load_sectors", "global_store_sectors")}
        reports = {}
        for name in (*GATE, *ALIGN):
            done = subprocess.run([f"{BUILD}/cpu/{name}", "--format", "csv"], capture_output=True, text=True,
                                  check=True)
            reports[name.partition("_")[0]] = next(csv.DictReader(io.StringIO(done.stdout)))
        for operator, names in (("gate", GATE), ("align", ALIGN)):
            data = figures.read_data(f"{operator}_counters", BUILD)
            self.assertEqual((data["chapters"], len(data["panels"])), ([name.partition("_")[0] for name in names], 6))
            for panel in data["panels"]:
                shown = [text for value in zip(panel["texts"], data["chapters"]) for text in value]
                self.assertTrue(holds(texts(f"{operator}_counters"), [panel["label"], *shown]))
                for chapter, value, text in zip(data["chapters"], panel["values"], panel["texts"]):
                    report = reports[chapter]
                    wanted = sum(int(report[part]) for part in sums.get(panel["name"], (panel["name"],)))
                    wanted /= int(report["num_tokens"]) if operator == "gate" else 1
                    self.assertAlmostEqual(value, wanted, delta=1e-6 * wanted + 1e-6)
                    self.assertAlmostEqual(float(text.replace(",", "")), wanted, delta=0.01 * wanted)

    def test_the_load_is_that_of_the_choices_the_words_those_of_the_rows(self):
        raw = (runs.arrays(BUILD, "05_fused_gate") / "topk_ids.npy").read_bytes()
        body = raw[10 + struct.unpack("<H", raw[8:10])[0]:]
        ids = struct.unpack(f"<{len(body) // 4}i", body)
        words = json.loads((ROOT / "common" / "data" / "router" / "tokens.json").read_text())
        load, total = collections.Counter(ids), collections.Counter(words)
        data = figures.read_data("expert_load", BUILD)
        self.assertEqual(dict(zip(data["experts"], data["choices"])), {expert: load[expert] for expert in range(256)})
        self.assertEqual(data["choices"], sorted(data["choices"], reverse=True))
        self.assertEqual(data["idle"], [expert for expert in range(256) if load[expert] == 0])
        self.assertIn(", ".join(map(str, data["idle"])), texts("expert_load"))
        self.assertEqual([busy["expert"] for busy in data["busiest"]], [expert for expert, _ in load.most_common(5)])
        names = {"a space": " ", "a newline": "\n", "a rare word": "<unk>"}
        for busy in data["busiest"]:
            self.assertIn(f"expert {busy['expert']}, {busy['choices']}: {busy['words']}", texts("expert_load"))
            sent = collections.Counter(words[i // 8] for i, id_ in enumerate(ids) if id_ == busy["expert"])
            shown = re.findall(r"(?:^|, )(.+?) (\d+) of (\d+)(?=,|$)", busy["words"])
            self.assertEqual(sorted(sent.values())[:-4:-1], [int(often) for _, often, _ in shown])
            for word, often, of in shown:
                word = names.get(word, word.strip('"'))
                self.assertEqual((sent[word], total[word]), (int(often), int(of)))


class Spoiled(unittest.TestCase):
    """Tests that the check finds figures that are not up to date, and that drawing repairs them."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(FOLDER, self.folder, dirs_exist_ok=True)
        self.path = self.folder / "results.svg"
        self.number = re.search(r">\d+\.\d+<", self.path.read_text())[0]
        self.data = figures.read_data("results", BUILD)

    def fault(self, data=None):
        return figures.fault(self.path, "results", data or self.data)

    def test_the_copy_is_good(self):
        self.assertEqual(self.fault(), "")

    def test_faults_are_found(self):
        text = self.path.read_text()
        for other in text.replace(self.number, ">0.123<"), text[:len(text) // 2], text.replace("<!--", "<!-- "), "":
            self.path.write_text(other)
            self.assertIn("not what docs/tools draws", self.fault())
        self.path.unlink()
        self.assertEqual(self.fault(), "it is missing")

    def test_other_data_and_other_code_are_found(self):
        other = json.loads(json.dumps(self.data))
        other["panels"]["gate"]["rows"][0]["us"][0] += 1
        self.assertIn("not what", self.fault(other))
        tools = self.folder / "tools"
        shutil.copytree(ROOT / "docs" / "tools", tools)
        for change, fault in (("# more\n", ""), ("MORE = 1\n", "not what")):
            with open(tools / "plots.py", "a") as file:
                file.write(change)
            kept, figures.__file__ = figures.__file__, str(tools / "figures.py")
            self.addCleanup(setattr, figures, "__file__", kept)
            self.assertIn(fault, self.fault())
            self.assertEqual(self.fault() == "", fault == "")

    def test_the_tool_names_those_that_differ_and_what_to_do(self):
        self.path.write_text(self.path.read_text().replace(self.number, ">0.123<"))
        (self.folder / "02_butterfly.svg").unlink()
        status, said = tool("--check", "--figures", self.folder)
        self.assertEqual(status, 1)
        self.assertEqual(said.splitlines(), [
            f"{self.folder}/02_butterfly.svg: it is missing; ninja figures draws it",
            f"{self.path}: not what docs/tools draws of today's data; ninja figures draws it"])

    def test_without_matplotlib_a_line_says_what_to_do(self):
        self.path.unlink()
        said = "figures: matplotlib is missing: sh common/setup.sh docs installs it\n"
        without_packages = (sys.executable, "-S")
        self.assertEqual(tool("--figures", self.folder, python=without_packages), (1, said))

    @NEEDS_MATPLOTLIB
    def test_what_is_drawn_anew_is_good(self):
        def words(folder):
            return {path.name: sorted(re.findall(r">([^<]+)</text>", path.read_text())) for path in folder.iterdir()}

        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.assertEqual(tool("--figures", self.folder, python=WITH_MATPLOTLIB), (0, ""))
        self.assertEqual(tool("--check", "--figures", self.folder), (0, ""))
        self.assertEqual(words(self.folder), words(FOLDER))

    @NEEDS_MATPLOTLIB
    def test_words_are_text_to_xml(self):
        self.data.update(source="a 'card' & a <b>",
                         old="Recorded from an older kernel: 04_bitonic_sort, CUB radix sort")
        script = "import figures, json, pathlib, sys; figures.draw(pathlib.Path(sys.argv[1]), 'results', json.load(sys.stdin))"
        subprocess.run([*WITH_MATPLOTLIB, "-c", script, self.path], input=json.dumps(self.data), text=True, check=True,
                       env={**os.environ, "PYTHONPATH": "docs/tools"})
        text = self.path.read_text()
        self.assertIn(">a 'card' &amp; a &lt;b&gt;<", text)
        self.assertIn("Recorded from an older kernel: 04_bitonic_sort, CUB radix", text)
        xml.dom.minidom.parseString(text)


class Recorded(unittest.TestCase):
    """Tests of recorded runs that are old, invalid or missing."""

    def setUp(self):
        self.recorded = results.load()

    def of(self, program, **fields):
        return results.find(self.recorded, program, distribution="router", cache="warm", **fields)

    def test_older_kernels_are_named(self):
        for runs_of in self.recorded.values():
            for run in runs_of:
                run["kernel_source_sha256"] = results.source_hash(results.source_of(results.program_of(run)))
        self.assertEqual(plot_data.few_and_many(self.recorded)["old"], "")
        self.of("04_bitonic_sort", dtype="f32")["kernel_source_sha256"] = "0"
        self.of("cub_align", block_size=64, kernel="auto", room=None)["kernel_source_sha256"] = "0"
        said = "Recorded from an older kernel: "
        self.assertEqual(plot_data.time_lines("gate", self.recorded)["old"], said + "04_bitonic_sort")
        self.assertEqual(plot_data.few_and_many(self.recorded)["old"], said + "04_bitonic_sort, CUB radix sort")

    def test_odd_and_missing_ones_are_rejected(self):
        self.of("03_divergence_free", dtype="f32")["rows"][-1]["num_tokens"] = 65
        with self.assertRaisesRegex(ValueError, "03_divergence_free.*ascend"):
            plot_data.time_lines("gate", self.recorded)
        for program, operator, label in (("03_divergence_free", "gate", "03_divergence_free"),
                                         ("pytorch_gate", "gate", "PyTorch eager"),
                                         ("cub_align", "align", "CUB radix sort")):
            with self.subTest(program), self.assertRaisesRegex(ValueError, f"{label}: nothing is recorded"):
                plot_data.time_lines(operator, {**self.recorded, program: []})
        self.of("02_warp_per_group", dtype="f32")["rows"].pop(0)
        with self.assertRaisesRegex(ValueError, "no time of 1 tokens"):
            plot_data.few_and_many({**results.load(), "02_warp_per_group": self.recorded["02_warp_per_group"]})

    def test_counters_of_what_is_no_chapter_or_failed(self):
        with self.assertRaises(KeyError):
            plot_data.counter_panels("both", BUILD)
        with self.assertRaises((OSError, ValueError)):
            plot_data.counter_panels("gate", "/dev/null")
        with self.assertRaisesRegex(ValueError, "'99' is no chapter"):
            counters.report(BUILD, "99")


class Refused(unittest.TestCase):
    """Tests of traces and arrays that are invalid, or that a figure cannot show."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, program, arguments):
        return runs.trace(BUILD, program, arguments)

    def read(self, program, arguments):
        return trace.read(self.path(program, arguments))

    def gate(self):
        return self.path("02_warp_per_group", "--num-tokens 1")

    def refuses(self, words, function, *arguments):
        with self.subTest(words), self.assertRaises(ValueError) as caught:
            function(*arguments)
        self.assertRegex(str(caught.exception), words)
        self.assertNotIn("\n", str(caught.exception))

    def spoiled(self, path, change):
        """Writes a copy of a trace that change() has modified. Returns its path."""
        content = json.loads(path.read_text())
        change(content)
        (self.folder / "spoiled.json").write_text(json.dumps(content))
        return self.folder / "spoiled.json"

    def test_files_that_are_no_trace(self):
        with self.assertRaisesRegex(OSError, "none.json"):
            trace.read(self.folder / "none.json")
        another = "valid JSON, but no trace of a kernel; PROGRAM --trace=FILE.json writes one"
        still = re.sub(r'"events": \[.*\]', '"events": []', self.gate().read_text(), flags=re.S)
        for name, text, error in (("empty", "{}", another), ("still", still, another), ("bytes", "\udcff", "this is not text"),
                                  ("half", self.gate().read_text()[:1000],
                                   "not valid JSON: it ends at byte 1000, within a value (is it complete?)"),
                                  ("words", "{},\n{}", "line 1, column 3: this is not JSON")):
            path = self.folder / f"{name}.json"
            path.write_text(text, errors="surrogateescape")
            self.refuses(re.escape(f"{name}.json: {error}"), trace.read, path)
        self.refuses("spoiled.json: the kernel did more than the trace holds", trace.read,
                     self.spoiled(self.gate(), lambda content: content.update(truncated=True)))

    def test_events_that_are_none(self):
        def shop(content):
            next(event for event in content["events"] if event["kind"] == "shared_store")["kind"] = "shared_shop"

        def received(content):
            next(event for event in content["events"] if event["kind"] == "shuffle")["out"][3] = "0x0000007b"

        def short(content):
            next(event for event in content["events"] if event["kind"] == "shuffle")["in"].pop()

        def odd(content):
            next(event for event in content["events"] if event["kind"] == "shared_load")["offset"][0] = "here"

        for change in shop, received, short, odd:
            self.refuses("event [0-9]+ is none that a trace has", trace.read, self.spoiled(self.gate(), change))

    def test_exchanges(self):
        of_05 = self.read("05_fused_gate", "--num-tokens 4")
        self.refuses(r"no exchange over 16 lanes in snippet \[warp_best]", kernel_steps.exchange, of_05, "warp_best",
                     16, 5)
        self.refuses(r"6 exchanges are wanted in snippet \[warp_best]; there are 5", kernel_steps.exchange,
                     trace.read(self.gate()), "warp_best", 16, 6)

        def stored(content):
            for event in content["events"]:
                if event["kind"] == "shared_store" and event["lanes"] == 1:
                    event["value"][0] = "0x0000007b"

        self.refuses("goes on with another result", kernel_steps.exchange,
                     trace.read(self.spoiled(self.gate(), stored)), "warp_best", 16, 5)
        other = self.read("03_divergence_free", "--num-tokens 1 --dist normal")
        self.refuses("they do not take the same", kernel_steps.split, trace.read(self.gate()), other)
        self.refuses("no exchange over 16 lanes", kernel_steps.split, trace.read(self.gate()), of_05)

    def test_trees_and_scans(self):
        tree = self.path("08_align_blelloch", f"{runs.COUNTS} {LARGE}")
        scan = self.path("09_align_warp_scan", f"{runs.COUNTS_64} {LARGE}")
        waiting = self.read("06_align_serial", "--num-tokens 128 --kernel large --trace-kernel align_kernel")
        self.refuses("no word becomes the sum of two", kernel_steps.tree, waiting)
        self.refuses("no 99 words of dynamic shared memory", kernel_steps.tree, trace.read(tree), 99)
        self.refuses("do not add up in two levels", kernel_steps.two_level_scan, trace.read(tree))

        def begins(content):
            stores = [event for event in content["events"] if event["kind"] == "shared_store" and event["warp"] == 1]
            stores[-2]["value"][5] = "0x0000007b"

        self.refuses("do not add up in two levels", kernel_steps.two_level_scan, trace.read(self.spoiled(scan, begins)))

        def nothing(content):
            content["events"] = [event for event in content["events"] if event["kind"] in ("return", "block_barrier")]

        self.refuses("no warp does anything", kernel_steps.timeline, trace.read(self.spoiled(tree, nothing)))

    def test_stores(self):
        before = self.read("06_align_serial", f"{figures.PADS} --trace-kernel fill_kernel")
        after = self.path("07_align_vector_pad", figures.PADS)

        def of_list(content):
            return [event for event in content["events"] if event["kind"] == "global_store"]

        def half(content):
            content["events"].remove(of_list(content)[1])

        def twice(content):
            of_list(content)[1]["offset"] = of_list(content)[0]["offset"]

        self.refuses("they must have as many", kernel_steps.stores, before, trace.read(self.spoiled(after, half)))
        self.refuses("once from end to end", kernel_steps.stores, before, trace.read(self.spoiled(after, twice)))
        self.refuses("does not fill a list", kernel_steps.stores, before,
                     self.read("06_align_serial", "--num-tokens 128 --kernel large --trace-kernel align_kernel"))

    def test_products(self):
        path = self.path("11d_moe_async_ring", "--num-tokens 2 --hidden-size 64 --num-experts 2 --topk 1")

        def last_first(content):
            content["events"].reverse()

        def without_copies(content):
            content["events"] = [event for event in content["events"] if event["kind"] != "copy_to"]

        self.refuses("has its fragments otherwise", kernel_steps.fragments, trace.read(self.spoiled(path, last_first)))
        self.refuses("multiplies no matrices", kernel_steps.fragments,
                     self.read("11b_moe_tiled", "--num-tokens 2 --hidden-size 8"))
        ring = self.read("11d_moe_async_ring", runs.STEPPED["11d_moe_async_ring"])
        self.refuses("does not go round a ring of 2 stages", kernel_steps.ring, ring, 2)
        self.refuses("does not copy 16 chunks of a row by 16 lanes", kernel_steps.swizzled_chunks,
                     trace.read(self.spoiled(path, without_copies)), 16)
        self.refuses("loads its matrices otherwise", kernel_steps.quarters, trace.read(self.spoiled(path, last_first)))
        self.refuses("divides its tile otherwise", kernel_steps.warp_tiles, ring, 256, 1)
        self.refuses("does not store each chunk that it copies", kernel_steps.stage_row_copies, ring, 272, 256, 64)

    def test_tiles(self):
        path = self.path("11b_moe_tiled", figures.TILE)

        def twice(content):
            stores = [event for event in content["events"] if event["kind"] == "global_store"]
            stores[1]["offset"] = stores[0]["offset"]

        self.refuses("does not store 16 x 64 sums once each", layer_steps.own_sums,
                     trace.read(self.spoiled(path, twice)), 16, 64, 21, 224)

    def test_requests_for_weights(self):
        self.refuses("1 of 5 warps read weights with all lanes", kernel_steps.weight_requests,
                     self.read("11a_moe_naive", f"{figures.WEIGHTS} --seed 2"), 128, 5, 1, 10)

    def arrays(self, program, arguments=""):
        shutil.copytree(runs.arrays(BUILD, program, arguments), self.folder, dirs_exist_ok=True)

    def change(self, name, at, byte):
        content = bytearray((self.folder / name).read_bytes())
        content[at] = byte
        (self.folder / name).write_bytes(content)

    def test_arrays(self):
        self.refuses("sorted_token_ids.npy", choices.blocks, self.folder)
        self.refuses("topk_ids.npy", choices.load, self.folder)
        self.refuses("topk_ids.npy", choices.last_token_steps, self.folder)
        self.arrays("01_cpu_baseline", "--num-tokens 6")
        for name, at, byte in ("topk_ids.npy", -32, 1), ("topk_weights.npy", -29, 0x40):
            self.arrays("01_cpu_baseline", "--num-tokens 6")
            self.change(name, at, byte)
            self.refuses("is not what the router's scores give", choices.last_token_steps, self.folder)
        self.arrays("13a_gate_bound", "--num-tokens 4")
        self.refuses("group 0 of row 2 does not stay", choices.mask, self.folder, 2, 0)
        self.change("topk_ids.npy", -32, 1)
        self.refuses("is not what the router's scores give", choices.bounded_tokens, self.folder)
        self.arrays("06_align_serial", "--counts 4,1,5,3 --block-size 3")
        (self.folder / "topk_ids.npy").write_bytes((self.folder / "sorted_token_ids.npy").read_bytes())
        self.refuses("it must be i32, 8 in a row", choices.last_token_steps, self.folder)
        self.change("sorted_token_ids.npy", -4, 2)
        self.refuses("not those of one align", choices.blocks, self.folder)
        for content in b"", b"\x93NUMPY\x01\x00\x06\x00{}}}}}":
            (self.folder / "topk_ids.npy").write_bytes(content)
            self.refuses("it is no array of i32, i64 or f32", choices.load, self.folder)
        (self.folder / "topk_ids.npy").write_bytes((ROOT / "common/data/router/layer2_logits.npy").read_bytes())
        self.refuses(r"it must be \[tokens, topk] of i32", choices.load, self.folder)

    def test_words_of_blocks(self):
        self.arrays("15_one_launch", "--num-tokens 64 --block-size 4")
        self.refuses("no expert is chosen by all 64 tokens", choices.published_words, self.folder)
        self.arrays("15_one_launch", "--num-tokens 3 --block-size 4")
        slot = figures.read_data("15_words", BUILD)["blocks"][0]["slot"]
        self.change("sorted_token_ids.npy", 4 * (slot - 96), 24)  # a pad instead of a position
        self.refuses("a position is not in the list", choices.published_words, self.folder)

    def test_words(self):
        self.arrays("05_fused_gate")
        self.addCleanup(setattr, choices, "ROUTER", choices.ROUTER)
        choices.ROUTER = self.folder
        for words, reason in ((["one"], "it has 1 words for 2048 rows"), ({}, "it must be a list of words"),
                              ([1] * 2048, "it must be a list of words")):
            (self.folder / "tokens.json").write_text(json.dumps(words))
            self.refuses(reason, choices.load, self.folder)

    def test_what_no_page_shows(self):
        self.refuses("spiral.svg: no README shows it", figures._what_it_shows, "spiral")
        self.assertEqual(tool("--spiral")[0], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
