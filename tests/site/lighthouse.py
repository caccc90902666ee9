"""Run Lighthouse on every page of the built book: `make lighthouse`.

    python -m tests.site.lighthouse [PAGE ...]

Needs npm and a browser. Serves the book compressed, as a static host does, and writes
four scores for each page to _build/lighthouse.json. Accessibility, best practices and
SEO must be 100; performance depends on the machine and is only reported.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from book.chromium import FLAGS, installed, served
from tests.site.test_pages import HTML, SOURCES

LIGHTHOUSE = "lighthouse@13.5.0"
GATES = ("accessibility", "best-practices", "seo")
CATEGORIES = ("performance", *GATES)
REPORT = HTML.parent / "lighthouse.json"


def audit(address):
    """Return Lighthouse's report on one page."""
    browser = {"CHROME_PATH": installed()} if installed() else {}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [shutil.which("npx"), "--yes", LIGHTHOUSE, address, "--quiet"]
        command += ["--output=json", f"--output-path={report}"]
        command += [f"--only-categories={','.join(CATEGORIES)}"]
        command += [f"--chrome-flags=--headless=new {' '.join(FLAGS)}"]
        subprocess.run(command, check=True, env={**os.environ, **browser})
        return json.loads(report.read_text(encoding="utf-8"))


def scores(report):
    return {
        name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES
    }


def faults(report):
    """Yield the audits that keep a required score below 100, with their first place."""
    for name in GATES:
        for audit in report["categories"][name]["auditRefs"]:
            result = report["audits"][audit["id"]]
            if audit["weight"] and result["score"] is not None and result["score"] < 1:
                places = result.get("details", {}).get("items", [])
                yield f"{name}: {result['title']} {json.dumps(places[:1])[:300]}"


def main(pages):
    if not shutil.which("npx"):
        sys.exit("Stopped: npx is needed, which comes with Node.js 22 or newer.")
    if not (HTML / "index.html").exists():
        sys.exit("Stopped: the book is not built yet: make book")
    table = {}
    failed = False
    print(f"{'page':55}" + "".join(f"{name:>16}" for name in CATEGORIES))
    with served(HTML) as site:
        for page in pages:
            report = audit(f"{site}{page}.html")
            table[page] = scores(report)
            print(f"{page:55}" + "".join(f"{s:16}" for s in table[page].values()))
            if any(table[page][name] < 100 for name in GATES):
                failed = True
                print(*(f"    {fault}" for fault in faults(report)), sep="\n")
            sys.stdout.flush()
    REPORT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    if failed:
        sys.exit("Stopped: a page is below 100 where it must not be.")


if __name__ == "__main__":
    main(sys.argv[1:] or SOURCES)
