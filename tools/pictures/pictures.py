#!/usr/bin/env python3
"""Makes docs/page.png anew: the top of the page of a small shop that forgets no session.

Usage: pictures.py
"""

import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "page-test"))
from browser import Browser  # noqa: E402

TARGET = pathlib.Path(os.environ.get("HPROF_TARGET", ROOT / "target" / "release"))
WIDTH, HEIGHT = 1100, 1560
# The picture ends below this part.
LAST = "#map .legend"
BYTES_MAX = 300_000


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hprof-pictures-"))
    try:
        page = page_of_shop(folder)
        browser = Browser(folder / "profile")
        try:
            picture = drawn(browser, page)
            browser.close()
        except BaseException:
            browser.kill()
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if len(picture) > BYTES_MAX:
        sys.exit(f"pictures: {len(picture)} bytes are too many for a page of documents")
    (ROOT / "docs" / "page.png").write_bytes(picture)
    print(f"docs/page.png: {len(picture)} bytes")


def page_of_shop(folder):
    subprocess.run(["javac", "-d", folder, HERE / "Shop.java"], check=True)
    dump, page = folder / "shop.hprof", folder / "shop.html"
    options = f"heap=all,sampling=65536,file={dump}"
    agent = TARGET / "libhprof_rs.so"
    subprocess.run(["java", "-Xmx256m", f"-agentpath:{agent}={options}", "-cp", folder, "shop.Shop"], check=True)
    subprocess.run([TARGET / "hprof", "report", dump, "-o", page], check=True)
    return page


def drawn(browser, page):
    browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(page.as_uri())
    if browser.faults:
        raise RuntimeError(f"the page complains: {browser.faults}")
    bottom = browser.evaluate(f"document.querySelector('{LAST}').getBoundingClientRect().bottom + scrollY")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom + 2, "scale": 1}
    taken = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    return base64.b64decode(taken["data"])


main()
