#!/usr/bin/env python3
"""Opens the pages of `hprof report` and `hprof view` in Chromium and uses them as a person does.

Usage: page_test.py [--screenshots FOLDER] [DUMP]
Without DUMP a small program with a planted leak runs under the agent, and the page of its dump is judged.
With DUMP the page of that dump is opened and only judged for what holds for all heaps.
"""

import argparse
import base64
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from browser import Browser  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SUBJECTS = HERE.parent.parent / "java-tests/src/test/java"
TARGET = pathlib.Path(os.environ.get("HPROF_TARGET", HERE.parent.parent / "target" / "release"))
PAGE_BYTES_MAX = 2_000_000

# The ways in which java-tests' Leaks leaks, and what keeps the sessions.
LEAKS = {
    "static": "the static field CACHE of class leaks.Leaks",
    "local": 'thread "worker"',
    "loader": 'thread "plugin-runner"',
    "listeners": "the static field BUS of class leaks.Leaks",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("dump", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hprof-page-"))
    try:
        dump = arguments.dump or dump_of_leak(folder)
        page = folder / "page.html"
        subprocess.run([TARGET / "hprof", "report", dump, "-o", page], check=True)
        check(page.stat().st_size <= PAGE_BYTES_MAX, "the page has at most 2 MB")
        check(b"planted-secret" not in page.read_bytes(), "no string of the heap is in the page")
        browser = Browser(folder / "profile")
        try:
            judge(browser, page, arguments)
            judge_view(browser, dump, arguments)
            if not arguments.dump:
                judge_leaks(browser, folder)
            browser.close()
        except BaseException:
            browser.kill()
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("page-test: OK")


def dump_of_leak(folder):
    subprocess.run(["javac", "-d", folder, HERE / "Leak.java"], check=True)
    dump = folder / "leak.hprof"
    agent = TARGET / "libhprof_rs.so"
    options = f"heap=all,format=b,sampling=65536,file={dump}"
    subprocess.run(["java", f"-agentpath:{agent}={options}", "-cp", folder, "Leak"], check=True)
    return dump


def judge(browser, page, arguments):
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=1000, deviceScaleFactor=1, mobile=False)
    address = page.as_uri()
    seconds = browser.open(address)
    print(f"page-test: {page.stat().st_size} bytes, drawn {seconds:.2f} s after it was asked for")
    shoot(browser, arguments.screenshots, "light")
    if not arguments.dump:
        judge_leak(browser)
    judge_map(browser, arguments.screenshots)
    judge_table(browser)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.call("Emulation.setEmulatedMedia", features=dark)
    browser.settle()
    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    check(ground == "rgb(20, 23, 28)", f"dark mode is dark: {ground}")
    shoot(browser, arguments.screenshots, "dark")
    check(browser.faults == [], f"the console is empty: {browser.faults}")
    check(set(browser.requests) == {address}, f"nothing but the page is asked for: {browser.requests}")


def judge_leak(browser):
    first = text(browser, ".suspect")
    check("class Leak" in first and "SESSIONS" in first, f"the planted leak is the first suspect: {first}")
    check("class Leak" in text(browser, "#sentence"), "the sentence names the planted leak")
    check("Equal arrays" in text(browser, "#waste"), "the page tells of waste")
    check("Item.<init>:" in text(browser, "#allocated"), "the flame graph has the allocating line")
    check("java.lang" in text(browser, "#allocated .legend"), "the flame graph has a legend")
    folds = "document.querySelectorAll('.fold').length"
    before = browser.evaluate(folds)
    browser.click("document.querySelector('.suspect .fold button')")
    check(browser.evaluate(folds) == before - 1, "a click unfolds the frames of libraries")
    browser.call("Page.printToPDF")
    check(browser.evaluate("document.querySelectorAll('[data-opened]').length") == 0, "what opened for paper is closed again")
    check(text(browser, ".chart .cell.top").count("class Leak") == 1, "the largest box is the planted leak")
    threads = text(browser, "#threads")
    check("<script>document.title='owned'" in threads, "a thread's name is shown as it is")
    check("owned" not in browser.evaluate("document.title"), "a thread's name does nothing")
    check(browser.evaluate("document.querySelectorAll('img, iframe, a').length") == 0, "names make no elements")


def judge_view(browser, dump, arguments):
    server = subprocess.Popen([TARGET / "hprof", "view", dump], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        browser.requests.clear()
        browser.call("Emulation.setEmulatedMedia", features=[])
        browser.open(address)
        browser.wait("document.querySelectorAll('#objects .side > ul > li').length > 3")
        browser.click("document.querySelector('#objects .turn')")
        browser.wait("document.querySelector('#objects ul ul li')")
        largest = browser.evaluate("document.querySelector('#objects ul ul button.id').textContent")
        browser.click("document.querySelector('#objects ul ul button.id')")
        browser.wait("document.querySelector('#objects ol.path')")
        check(largest in text(browser, "#objects .side:last-child h3"), "a click on an id shows the object")
        check(browser.evaluate("location.hash") == "#" + largest, "the address names the object")
        check("planted-secret" not in browser.evaluate("document.documentElement.outerHTML"), "no string of the heap is shown")
        browser.click("document.querySelector('#objects input')")
        browser.type("HashMap$Node")
        browser.wait("document.querySelector('#objects td button.kind')")
        check("HashMap$Node" in text(browser, "#objects td button.kind"), "the search finds classes")
        browser.click("document.querySelector('#objects td button.kind')")
        browser.wait("document.querySelector('#objects .side h3').textContent.startsWith('Objects of')")
        browser.click("document.querySelector('#objects details summary')")
        browser.wait("document.querySelector('#objects details li')")
        paths = text(browser, "#objects details")
        check(arguments.dump or ".SESSIONS (static)" in paths, f"paths to a class's objects are one tree: {paths}")
        shoot(browser, arguments.screenshots, "view")
        check(browser.faults == [], f"the console is empty: {browser.faults}")
        own = all(asked.startswith(address) for asked in browser.requests)
        check(own, f"nobody but the command is asked: {browser.requests}")
    finally:
        server.send_signal(signal.SIGINT)
        check(server.wait() == 0, "Ctrl-C ends hprof view with 0")


def judge_leaks(browser, folder):
    """Each of four leaks is the first suspect, with holder, path and stack, on the page of its dump and of its JVM."""
    subprocess.run(["javac", "-d", folder, "-sourcepath", SUBJECTS, SUBJECTS / "leaks/Leaks.java"], check=True)
    for leak, holder in LEAKS.items():
        dump, page = folder / f"{leak}.hprof", folder / f"{leak}.html"
        options = f"heap=all,sampling=0,file={dump}"
        command = ["java", f"-agentpath:{TARGET / 'libhprof_rs.so'}={options}", "-cp", folder, "leaks.Leaks", leak]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as jvm:
            check(jvm.stdout.readline() == "READY\n", f"the leak {leak} is made")
            subprocess.run([TARGET / "hprof", "report", str(jvm.pid), "-o", page], check=True)
            judge_suspect(browser, page, holder)
            jvm.communicate("exit\n")
        subprocess.run([TARGET / "hprof", "report", dump, "-o", page], check=True)
        judge_suspect(browser, page, holder)


def judge_suspect(browser, page, holder):
    browser.requests.clear()
    browser.open(page.as_uri())
    sentence, first = text(browser, "#sentence"), text(browser, ".suspect")
    check(f"held by {holder}" in sentence, f"the sentence names {holder}: {sentence}")
    kind = next(word for word in sentence.split() if word.startswith("leaks."))
    check(kind in first and sentence not in first, f"the sentence is about the first suspect, and stands once: {first}")
    check("Path from a root" in first and "most of the bytes gather here" in first, f"it has a path: {first}")
    stack = text(browser, ".suspect .frames")
    check(stack.startswith("leaks.Leaks$Session.<init>(Leaks.java:"), f"it has the stack that allocated it: {stack}")
    check(browser.faults == [], f"the console is empty: {browser.faults}")
    check(set(browser.requests) == {page.as_uri()}, f"nothing but the page is asked for: {browser.requests}")


def judge_map(browser, folder):
    trail = "[...document.querySelectorAll('#map .trail button')].map(step => step.textContent)"
    cells = "document.querySelectorAll('#map .cell').length"
    check(browser.evaluate(cells) <= 5000, "at most 5,000 boxes are drawn")
    check(len(browser.evaluate(trail)) == 1, "at first the whole heap is shown")
    browser.click("document.querySelector('#map .cell.top')")
    inside = browser.evaluate(trail)
    check(len(inside) > 1, f"a click zooms in: {inside}")
    shoot(browser, folder, "zoomed")
    browser.click("document.querySelector('#map .trail button')")
    check(len(browser.evaluate(trail)) == 1, "a name of the trail zooms out")
    browser.evaluate("document.querySelector('#map .chart').focus()")
    browser.key("ArrowRight")
    check(browser.evaluate("document.querySelectorAll('#map .chosen').length") == 1, "an arrow key chooses a box")
    browser.key("Enter")
    check(browser.evaluate(trail) == inside, "Enter zooms in as a click does")
    browser.key("Backspace")
    check(len(browser.evaluate(trail)) == len(inside) - 1, "Backspace zooms out by one level")
    browser.key("Home")
    check(len(browser.evaluate(trail)) == 1, "Home shows all")
    browser.click("document.querySelectorAll('#map .tools button')[1]")
    check("Whole heap" in text(browser, "#map .cell"), "the icicle has the whole heap on top")
    shoot(browser, folder, "icicle")
    browser.click("document.querySelectorAll('#map .tools button')[0]")


def judge_table(browser):
    column = "[...document.querySelectorAll('#classes tbody tr')].map(row => row.cells[{}].textContent)"
    numbers = lambda place: [int(cell.replace(",", "")) for cell in browser.evaluate(column.format(place))]
    check(is_falling(numbers(3)), "classes stand by retained bytes first")
    browser.click("document.querySelectorAll('#classes th button')[1]")
    check(is_falling(numbers(1)), "a click sorts by objects")
    browser.click("document.querySelectorAll('#classes th button')[1]")
    check(is_falling(numbers(1)[::-1]), "another click turns the order")
    browser.click("document.querySelector('#classes input')")
    browser.type("HashMap$")
    found = browser.evaluate(column.format(0))
    check(found and all("HashMap$" in name for name in found), f"the filter leaves what it names: {found}")
    browser.click("document.querySelectorAll('#classes th button')[3]")


def is_falling(numbers):
    return all(a >= b for a, b in zip(numbers, numbers[1:])) and len(numbers) > 2


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({selector!r}).textContent")


def shoot(browser, folder, name):
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        whole = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": whole["width"], "height": min(whole["height"], 3000), "scale": 1}
        picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture))


def check(holds, claim):
    if not holds:
        sys.exit(f"page-test: it does not hold that {claim}")


if __name__ == "__main__":
    main()
