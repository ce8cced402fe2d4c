#!/usr/bin/python3
"""The dataset of make.py as .sheaf files, written from docs/formats.md alone. Needs nothing but Python.

    make_sheaf.py               writes table.sheaf (dense, double) and counts.sheaf (compressed rows, float) into this folder
                                and files with one defect each into tests/invalid
    make_sheaf.py check FILE    reads a .sheaf file, compares all of its checksums, and prints what is in it
"""

import csv
import hashlib
import itertools
import json
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
MAGIC = b"\x89SHEAF\r\n"
BLOCK = 1 << 20
HEADER, ENTRY = "<8sIIQQ32sqqqIII28x", "<IIQQQ32s"


def tree_hash(data):
    blocks = [hashlib.sha256(data[at:at + BLOCK]).digest() for at in range(0, len(data), BLOCK)]
    return hashlib.sha256(b"".join(blocks)).digest()


def numbers(kind, values):
    return struct.pack(f"<{len(values)}{kind}", *values)


def texts(words):
    encoded = [word.encode() for word in words]
    ends = itertools.accumulate(len(word) for word in encoded)
    return numbers("Q", [len(words), *ends]) + b"".join(encoded)


def pack(header, sections):
    """`header`: rows, features, stored, element bytes, compressed rows, missing. `sections`: (kind, bytes)."""
    begin = 128 + 64 * len(sections)
    body, table, end = b"", b"", begin
    for kind, data in sections:
        unit = 4096 if kind >= 32 else 64
        offset = (end + unit - 1) // unit * unit
        body += bytes(offset - end) + data
        end = offset + len(data)
        table += struct.pack(ENTRY, kind, 0, offset, len(data), 0, tree_hash(data))
    parts = [MAGIC, 1, len(sections), end, begin, bytes(32), *header]
    parts[5] = hashlib.sha256(struct.pack(HEADER, *parts) + table).digest()
    return struct.pack(HEADER, *parts) + table + body


def reseal(data):
    end = 128 + 64 * struct.unpack_from("<I", data, 12)[0]
    digest = hashlib.sha256(data[:32] + bytes(32) + data[64:end]).digest()
    return data[:32] + digest + data[64:]


def write(name, data):
    with open(os.path.join(here, name), "wb") as file:
        file.write(data)


def read(path):
    """(header, {kind: [bytes]}) of a file whose checksums are right."""
    data = open(path, "rb").read()
    header = list(struct.unpack_from(HEADER, data))
    assert header[0] == MAGIC and header[1] == 1 and header[3] == len(data)
    entries = [struct.unpack_from(ENTRY, data, 128 + 64 * k) for k in range(header[2])]
    blank = data[:32] + bytes(32) + data[64:header[4]]
    assert hashlib.sha256(blank).digest() == header[5], "header"
    sections = {}
    for kind, _, offset, size, _, digest in entries:
        assert offset % (4096 if kind >= 32 else 64) == 0
        assert tree_hash(data[offset:offset + size]) == digest, kind
        sections.setdefault(kind, []).append(data[offset:offset + size])
    return header, sections


def columns_of(name):
    with open(os.path.join(here, name), newline="") as file:
        return {header: list(cells) for header, *cells in zip(*csv.reader(file))}


def matrix_of(columns):
    """Rows of the four columns behind the ids."""
    return [[float(cell) for cell in row] for row in zip(*list(columns.values())[1:5])]


def write_files():
    expected = columns_of("expected.csv")
    features = list(expected)[1:5]
    classes, people = ["sick", "healthy"], sorted(set(expected["subject"]))
    about = {"made_by": "make_sheaf.py", "label": "disease", "label_kind": "automatic", "fixed_order": True, "positive": 0,
             "kept": ["age"]}
    write("table.sheaf", pack((6, 4, 24, 8, 0, 0), [
        (1, json.dumps(about).encode()),
        (3, texts(features)),
        (4, texts(expected["id"])),
        (7, texts(classes)),
        (8, numbers("i", [classes.index(one) for one in expected["disease"]])),
        (12, numbers("i", [people.index(one) for one in expected["subject"]])),
        (13, texts(people)),
        (17, texts(expected["age"])),
        (32, numbers("d", sum(matrix_of(expected), []))),
    ]))
    rows = [[(j, value) for j, value in enumerate(row) if value] for row in matrix_of(columns_of("counts.csv"))]
    entries = sum(rows, [])
    write("counts.sheaf", pack((6, 4, len(entries), 4, 1, 0), [
        (1, json.dumps({"label_kind": "numbers", "label": "age"}).encode()),
        (9, numbers("d", [float(one) for one in expected["age"]])),
        (32, numbers("f", [value for _, value in entries])),
        (33, numbers("i", [j for j, _ in entries])),
        (34, numbers("q", [0, *itertools.accumulate(len(row) for row in rows)])),
    ]))


def write_defects():
    """One defect each; all checksums are right but for the last one."""
    about = (1, json.dumps({"label": "y"}).encode())
    classes = [(7, texts(["a", "b"])), (8, numbers("i", [0, 1]))]
    dense = (2, 2, 4, 8, 0, 0)
    whole = pack(dense, [about, *classes, (32, numbers("d", [1, 2, 3, 4]))])
    defects = {
        "truncated": whole[:-3],
        "newer_version": reseal(whole[:8] + struct.pack("<I", 9) + whole[12:]),
        "class_without_name": pack(dense, [about, classes[0], (8, numbers("i", [0, 2])), (32, numbers("d", [1, 2, 3, 4]))]),
        "value_nan": pack(dense, [about, *classes, (32, numbers("d", [1, 2, 3, float("nan")]))]),
        "values_few": pack(dense, [about, *classes, (32, numbers("d", [1, 2, 3]))]),
        "index_out_of_range": pack((2, 2, 2, 8, 1, 0), [about, (32, numbers("d", [1, 2])), (33, numbers("i", [1, 2])),
                                                        (34, numbers("q", [0, 1, 2]))]),
        "offsets_descend": pack((2, 2, 2, 8, 1, 0), [about, (32, numbers("d", [1, 2])), (33, numbers("i", [0, 1])),
                                                     (34, numbers("q", [0, 5, 2]))]),
        "rows_zero": pack((0, 2, 0, 8, 0, 0), [about, (32, b"")]),
        "section_outside": reseal(whole[:128 + 8] + struct.pack("<Q", 1 << 40) + whole[128 + 16:]),
        "header_damaged": whole[:64] + b"\x03" + whole[65:],
    }
    for name, data in defects.items():
        write(os.path.join("..", "..", "invalid", name + ".sheaf"), data)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        header, sections = read(sys.argv[2])
        print("rows, features, stored:", *header[6:9])
        for kind, parts in sections.items():
            print(kind, [len(part) for part in parts], parts[0][:200] if kind == 1 else "")
    else:
        write_files()
        write_defects()
