"""Chromium without a window, driven through a pipe by the DevTools protocol."""

import itertools
import json
import os
import select
import subprocess
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe",
]

# Seconds that an answer may take.
PATIENCE_S = 60


class Browser:
    """One page. `faults` has what it complained of, `requests` the addresses that it asked for."""

    def __init__(self, profile):
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()

        def pipes():
            # Chromium reads from 3 and writes to 4. One of the pipes may have such a number already.
            high = [os.dup(commands), os.dup(answers)]
            while min(high) < 5:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = ["chromium", *FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = None
        self.faults, self.requests, self._events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != number:
                self._note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, address):
        """Opens the page and gives the seconds until it is drawn."""
        start = time.monotonic()
        self._events.clear()
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self._events:
            self._note(self._receive())
        self.settle()
        return time.monotonic() - start

    def settle(self):
        """Waits until the page has drawn two more frames."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def wait(self, condition):
        """Waits until a condition holds, at most ten seconds."""
        end = time.monotonic() + 10
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise RuntimeError(f"it does not come true: {condition}")
            self.settle()

    def evaluate(self, script):
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def click(self, script):
        """Clicks into the middle of the element that the script gives."""
        x, y = self.evaluate(
            f"(() => {{ const e = {script}; e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def key(self, key):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def close(self):
        self._session = None
        self.call("Browser.close")
        self._process.wait(PATIENCE_S)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def _receive(self):
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], PATIENCE_S)[0]:
                raise RuntimeError("Chromium gives no answer")
            got = os.read(self._from, 1 << 20)
            if not got:
                raise RuntimeError("Chromium has ended")
            self._rest += got
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, facts = event.get("method", ""), event.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.faults.append(facts["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.faults.append([facts["type"], facts["args"]])
        elif method == "Log.entryAdded":
            self.faults.append(facts["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
