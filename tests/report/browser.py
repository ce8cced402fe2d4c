"""A page in a headless Chromium, driven through its DevTools pipe: nothing but the standard library is needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find_browser():
    """The path of a Chromium or Chrome, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    return None


class Browser:
    def __init__(self, program, *options):
        self.profile = tempfile.mkdtemp(prefix="report-browser-")
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()
        os.set_inheritable(to_child, True)
        os.set_inheritable(from_child, True)
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4; the shell puts them there.
        command = (f'exec "$0" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars '
                   f'--no-first-run {" ".join(options)} --user-data-dir="{self.profile}" --remote-debugging-pipe about:blank '
                   f'3<&{to_child} 4>&{from_child}')
        self.process = subprocess.Popen(["bash", "-c", command, program], pass_fds=(to_child, from_child),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.next_id = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read_end, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.next_id += 1
        command = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_end, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, scheme, media="screen"):
        """Loads a file at a width of so many pixels, in the colour scheme 'light' or 'dark'."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.open_url("file://" + os.path.abspath(path))

    def open_url(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")

    def picture(self, width=None):
        """The whole page as PNG, made smaller until it is so many pixels wide."""
        clip = {}
        if width is not None:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {**size, "scale": width / size["width"]}}
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, **clip)["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=20)
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)
