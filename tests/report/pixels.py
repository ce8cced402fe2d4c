"""Small pictures and how they differ."""
import struct
import zlib


def read_png(data):
    """The rows of an 8-bit RGB or RGBA picture, each a list of (red, green, blue)."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError("the picture is not plain RGB with 8 bits a colour")
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, each = zlib.decompress(packed), 3 if colour == 2 else 4
    stride, above, rows = width * each, bytearray(width * each), []
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up = line[x - each] if x >= each else 0, above[x]
            corner = above[x - each] if x >= each else 0
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth(left, up, corner))[method]) & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, stride, each)])
        above = line
    return rows


def paeth(left, up, corner):
    return min((left, up, corner), key=lambda value: abs(left + up - corner - value))


def mean_colours(rows, across, down):
    """The mean colour of each of across x down fields."""
    height, width = len(rows), len(rows[0])
    fields = []
    for v in range(down):
        for u in range(across):
            some = [rows[y][x] for y in range(v * height // down, max((v + 1) * height // down, v * height // down + 1))
                    for x in range(u * width // across, (u + 1) * width // across)]
            fields.append([sum(colour[k] for colour in some) / len(some) for k in range(3)])
    return fields


def differences(seen, reference, across=6, most_height=0.1, most_mean=7.5, most_field=50):
    """Sentences, none where the pictures are alike: heights, colours on the whole and colours of fields (0 to 255).

    Another sans-serif font stays within the limits; a card or the plots that are gone, or the other colours, do not.
    """
    wrong = []
    if abs(len(seen) - len(reference)) > most_height * len(reference):
        return [f"the page is {len(seen)} high where its picture is {len(reference)}, in units of the small picture"]
    down = max(1, len(reference) * across // len(reference[0]))
    pairs = list(zip(mean_colours(seen, across, down), mean_colours(reference, across, down)))
    away = [max(abs(a - b) for a, b in zip(one, other)) for one, other in pairs]
    if sum(away) > most_mean * len(away):
        wrong.append(f"its colours are {sum(away) / len(away):.1f} from those of its picture in the mean, {most_mean} at most")
    if max(away) > most_field:
        field = away.index(max(away))
        wrong.append(f"its colours are {max(away):.0f} from those of its picture in field {field % across + 1} of row "
                     f"{field // across + 1} of {down}, {most_field} at most")
    return wrong
