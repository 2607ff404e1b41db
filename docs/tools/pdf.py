"""Prints the built site to a single PDF, BUILD/docs/course.pdf: python3 docs/tools/pdf.py --build BUILD.

The pages listed in ORDER are concatenated into one HTML file with the site's print style, which Chromium prints to PDF.
Links between these pages lead to positions in the PDF, and answers are unfolded.
"""
import pathlib
import re
import subprocess
import tempfile

import files

ORDER = ("index", "primer", "primer_together", "primer_machine", "chapter_[0-9]*", "results", "exercises", "exercise_[0-9]*",
         "glossary", "simulator", "sources", "claims")
CONTENT = re.compile(r'<h1 class="title">(.*?)</h1>.*?<div class="contents">(.*)</div><!-- contents -->', re.S)


def one_page(html):
    """Returns one HTML page that contains all pages of ORDER, each as a section with the page's name as its id."""
    paths = [path for name in ORDER for path in sorted(html.glob(f"{name}.html"))]
    sections = ""
    for path in paths:
        title, content = CONTENT.search(path.read_text()).groups()
        sections += f'<section class="contents" id="{path.name}"><h1 class="title">{title}</h1>{content}</section>\n'
    for path in paths:
        sections = re.sub(rf'href="({re.escape(path.name)})(#[^"]+)?"', lambda at: f'href="{at[2] or "#" + at[1]}"',
                          sections)
    sections = sections.replace("<details", "<details open").replace(' loading="lazy"', "")
    head = re.search(r"<head>.*?</head>", (html / "index.html").read_text(), re.S)[0]
    head = re.sub(r"<script.*?</script>", "", head, flags=re.S)
    return f'<!DOCTYPE html>\n<html lang="en" class="light-mode">{head}<body class="course">{sections}</body></html>\n'


@files.errors_in_one_line("pdf")
def main():
    folder = files.parser(__doc__, build=pathlib.Path("build")).parse_args().build / "docs"
    page, out = folder / "html" / "course.html", folder / "course.pdf"
    page.write_text(one_page(folder / "html"))
    try:
        with tempfile.TemporaryDirectory() as profile:
            command = ["chromium", "--headless", "--disable-gpu", f"--user-data-dir={profile}",
                       "--no-pdf-header-footer", "--no-sandbox",  # safe for our own page; containers have no sandbox
                       "--generate-pdf-document-outline", f"--print-to-pdf={out.resolve()}", page.resolve().as_uri()]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    finally:
        page.unlink()
    print(out)


if __name__ == "__main__":
    main()
