"""web/dist is what web/ is built to: builds the page again and compares the bytes. Exit code 77: node 20.19 or its packages
(npm ci in web/) are not there."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

WEB = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "web")


def missing():
    """What is not there, or None."""
    node = shutil.which("node")
    if node is None:
        return "node is not installed"
    version = re.match(r"v(\d+)\.(\d+)", subprocess.run([node, "--version"], capture_output=True, text=True).stdout)
    if (int(version[1]), int(version[2])) < (20, 19):
        return f"node is {version[0]}; the page is built with 20.19 or later"
    if not os.path.exists(os.path.join(WEB, "node_modules", "vite")):
        return "packages of the page are not installed (npm ci in web/)"
    return None


def files(folder):
    """Paths below the folder, and their bytes."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def main():
    if what := missing():
        print(f"the page is built: Skipped\n{what}")
        return 77
    tool = lambda name: os.path.join(WEB, "node_modules", ".bin", name)
    subprocess.run([tool("tsc")], cwd=WEB, check=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tool("vite"), "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn"], cwd=WEB, check=True)
        built, kept = files(folder), files(os.path.join(WEB, "dist"))
    wrong = sorted(path for path in built.keys() | kept.keys() if built.get(path) != kept.get(path))
    if wrong:
        print("web/dist is not what web/ is built to (npm run build in web/): " + ", ".join(wrong))
        return 1
    size = sum(len(data) for data in built.values())
    print(f"{len(built)} files of {size} bytes, byte by byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
