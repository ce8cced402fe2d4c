#!/usr/bin/env python3
"""Runs the commands that README.md and the guides show with their output, and checks that each prints it; and checks that
every command shown anywhere in them is known and has the options it is shown with.

    tests/documents/shown.py PROGRAM        build/sheaf

A command is a line "$ ..." of a code block; the lines behind it, up to the next command, are what it prints, but for the
line about the device. A line "..." stands for any number of lines. All commands of a document run in one folder, in turn.
Processors add in different orders, so that a number with a decimal point may be 0.5 % or three of its last digits off, and a bar
have another length.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
documents = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def code_blocks(text):
    """(number of the first line, lines without indentation) of each block, fenced or indented by four spaces."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first = at
        if lines[at].startswith("```"):
            at += 1
            while at < len(lines) and not lines[at].startswith("```"):
                at += 1
            yield first + 2, lines[first + 1 : at]
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            yield first + 1, [line[4:] for line in lines[first:at]]
        at += 1


def shown_commands(path):
    """(line, command, lines of its output) of each command whose output is shown."""
    for first, lines in code_blocks(path.read_text()):
        starts = [k for k, line in enumerate(lines) if line.startswith("$ ")]
        for k, end in zip(starts, [*starts[1:], len(lines)]):
            yield first + k, lines[k][2:], trimmed(lines[k + 1 : end])


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def same_number(shown, printed):
    digits = re.fullmatch(r"[+-]?\d+\.(\d+)", shown)
    if not digits or not re.fullmatch(r"[+-]?\d+\.\d+", printed):
        return False
    a, b = float(shown), float(printed)
    return abs(a - b) <= max(0.005 * abs(a), 3.01 * 10 ** -len(digits.group(1)))


def is_bar(word):
    return all(letter in "█▉▊▋▌▍▎▏" for letter in word)


def same_line(shown, printed):
    if shown == printed:
        return True
    words = [[word for word in line.split() if not is_bar(word)] for line in (shown, printed)]
    if len(words[0]) != len(words[1]):
        return False
    return all(a == b or same_number(a, b) for a, b in zip(*words))


def first_difference(shown, printed):
    """None if `printed` is what is shown; else the first shown line that is missing."""
    at = 0
    anywhere = False
    for line in shown:
        if line.strip() == "...":
            anywhere = True
            continue
        if not anywhere and (at >= len(printed) or not same_line(line, printed[at])):
            return line
        while at < len(printed) and not same_line(line, printed[at]):
            at += 1
        if at == len(printed):
            return line
        at += 1
        anywhere = False
    return None if anywhere or at == len(printed) else "(no more lines)"


def run(command, folder, program):
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "sheaf").exists():
        (tools / "sheaf").symlink_to(program)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=600, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return trimmed([line for line in done.stdout.decode().split("\n") if not line.startswith("device: ")])


def check_outputs(path, program, folder):
    (folder / "demo").mkdir(parents=True)
    faults = []
    count = 0
    for line, command, shown in shown_commands(path):
        if "| jq" in command and shutil.which("jq") is None:
            continue
        count += 1
        printed = run(command, folder, program)
        missing = first_difference(shown, printed)
        if missing is not None:
            text = "\n      ".join(printed)
            faults.append(f"{path.relative_to(root)}:{line}: {command}\n    shows: {missing}\n    prints:\n      {text}")
    return count, faults


def known_options():
    """The options of each command, from docs/commands.md, which a test compares with the program."""
    sections = re.split(r"^## ", (root / "docs" / "commands.md").read_text(), flags=re.M)
    options = {}
    for section in sections[1:]:
        name = section.split("\n", 1)[0].removeprefix("sheaf ").strip()
        options[name] = set(re.findall(r"--[a-z0-9][a-z0-9-]*", section))
    return options


def check_options(path, known):
    faults = []
    for first, lines in code_blocks(path.read_text()):
        for k, line in enumerate(lines):
            found = re.match(r"(?:\$ )?(?:build/)?sheaf ([a-z-]+)(.*)", line)
            if not found:
                continue
            command, rest = found.groups()
            where = f"{path.relative_to(root)}:{first + k}"
            if command not in known:
                if not line.startswith("$ "):  # else what it prints is compared
                    faults.append(f"{where}: sheaf has no command {command}")
                continue
            for flag in re.findall(r"(?<=\s)--[a-z0-9][a-z0-9-]*", rest.split("#")[0].split("|")[0].split("&&")[0]):
                if flag not in known[command] and flag not in ("--help", "--version"):
                    faults.append(f"{where}: sheaf {command} has no option {flag}")
    return faults


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    faults = []
    count = 0
    known = known_options()
    with tempfile.TemporaryDirectory() as scratch:
        for path in documents:
            folder = pathlib.Path(scratch) / "-".join(path.relative_to(root).with_suffix("").parts)
            ran, wrong = check_outputs(path, program, folder)
            count += ran
            faults += wrong
            if path.name != "commands.md":
                faults += check_options(path, known)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"documents: {count} commands ran, {len(faults)} faults")
    return 1 if faults or count < 10 else 0


sys.exit(main())
