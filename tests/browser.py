"""Drives a headless Chromium through chromedriver, without other libraries. Implements only what the page tests need.

    with Browser() as browser:
        browser.open("file:///...")
        title = browser.run("return document.title")

browser_missing() returns the name of the missing program, or None.
"""

import json
import shutil
import socket
import subprocess
import time
import urllib.request


def browser_missing():
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return program
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    def __init__(self, width=1280, height=1000):
        self.size = (width, height)

    def __enter__(self):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.wait_until_ready()
        options = {  # a pipe, because a minimal system cannot resolve localhost
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                     f"--window-size={self.size[0]},{self.size[1]}"],
            "binary": shutil.which("chromium"),
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + answer["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()

    def wait_until_ready(self):
        for _ in range(100):
            try:
                if self.call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, address):
        self.call("POST", self.session + "/url", {"url": address})

    def run(self, script, *arguments):
        """Runs a script, which receives the arguments in the variable `arguments`. Returns the script's result."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def errors(self):
        """Returns the errors that the page has written to the console since the last call."""
        entries = self.call("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def press(self, key):
        """Presses and releases a key in the focused element."""
        down = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": down}]})

    def resize(self, width):
        """Sets the window's width; its height is always 900 pixels."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def emulate(self, width=None, scheme=None, motion=None):
        """Sets the window's width, and emulates the system's preferences for a light or dark scheme and for reduced
        motion."""
        if width:
            self.resize(width)
        features = []
        if scheme:
            features.append({"name": "prefers-color-scheme", "value": scheme})
        if motion:
            features.append({"name": "prefers-reduced-motion", "value": motion})
        self.devtools("Emulation.setEmulatedMedia", features=features)
