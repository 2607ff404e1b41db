"""Reads the stages of a block, with their cycles, from the table in a chapter's lab notes."""
import pathlib


def stage_cycles(chapter):
    """Returns the cycles of each stage of a block, in order, from the table with the columns "stage" and "cycles" in
    the chapter's lab notes. Raises ValueError if there is no such table or if its sum is not the sum of the stages."""
    text = pathlib.Path(f"chapters/{chapter}/NOTES.md").read_text()
    stages, inside = {}, False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        inside = line.startswith("| stage | cycles |") or inside and line.startswith("|")
        if inside and cells[1].replace(",", "").isdigit():
            stages[cells[0]] = int(cells[1].replace(",", ""))
    total = stages.pop("sum, without the launch", None)
    if not stages or total != sum(stages.values()):
        raise ValueError(f"chapters/{chapter}/NOTES.md: no table of stages with their sum, {sum(stages.values())}")
    return {"stages": stages}
