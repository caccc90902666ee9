"""Draw the ring of chapter 12: four processes, four pieces, two trips.

On the page it turns step by step, or with a known bug (scripts/figures/ring.js).
"""

from book.drawings.kit import Box, Colour, Drawing, Word

PROCESSES = 4
TURNS = PROCESSES - 1  # turns of one trip
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2", "patch-3")
WIDE, HIGH, GAP = 35, 17, 3  # size of a piece, and gap between two processes
TOP, STEP, RIGHT = 128, 94, 190  # top of the first panel, distance, second column
ROOM = (149, 122)  # size of a process on the page
ROW, TILE = (25, 24), (125, 21)  # y of its first piece, distance and size of its pieces
BADGE = (40, 21)  # size of a piece on its way
CORNERS = ((2, 22), (209, 22), (209, 192), (2, 192))  # of the processes on the page
HIGH_ON_THE_PAGE = 318  # of the drawing, which holds less there

Held = list[list[int]]
Fresh = set[tuple[int, int]]  # (process, piece) of all pieces that just arrived


def start() -> Held:
    """Return the pieces at the start: process r holds 1, 2, 3, 4 times 10^r."""
    return [[(piece + 1) * 10**rank for piece in range(4)] for rank in range(4)]


def states(own_first: bool = False) -> list[tuple[Held, Fresh]]:
    """Return all pieces at the start and after each turn, and the new arrivals.

    With ``own_first`` both trips begin with a process's own piece, which is a bug.
    """
    held = start()
    found: list[tuple[Held, Fresh]] = [(held, set())]
    for adds in (True, False):
        for turn in range(TURNS):
            new = [list(own) for own in held]
            fresh = set()
            for rank in range(PROCESSES):
                left = (rank - 1) % PROCESSES
                piece = (left - turn - (adds and not own_first)) % PROCESSES
                new[rank][piece] = held[left][piece] + adds * held[rank][piece]
                fresh.add((rank, piece))
            held = new
            found.append((held, fresh))
    return found


def draw() -> Drawing:
    found = states()
    whole = ", ".join(str(number) for number in found[-1][0][0])
    drawing = Drawing(
        "An all-reduce in a ring",
        "Four processes, 0 to 3, stand in a ring, and each sends to the next: 0 to 1, "
        "1 to 2, 2 to 3 and 3 to 0. Each holds a vector of four pieces: process 0 has "
        "1, 2, 3, 4, process 1 has 10, 20, 30, 40, process 2 has 100, 200, 300, 400 "
        "and process 3 has 1000, 2000, 3000, 4000. In each turn every process sends "
        "one piece to its neighbour. In the first trip, three turns, what arrives is "
        f"added; afterwards process r holds the whole sum of piece r, that is {whole} "
        "on the diagonal. In the second trip, three turns more, what arrives takes "
        "the place of what was there; afterwards every process holds all four sums.",
    )
    drawing.numbers = {
        "start": start(),
        "corners": CORNERS,
        "room": ROOM,
        "row": ROW,
        "badge": BADGE,
        "high": HIGH_ON_THE_PAGE,
    }
    with drawing.part("still"):
        at_rest(drawing, found)
    with drawing.part("stage", moving=True):
        turning(drawing)
    return drawing


def at_rest(drawing: Drawing, found: list[tuple[Held, Fresh]]) -> None:
    """Draw every turn at once, for a page that does not move."""
    ring(drawing)
    drawing.text(0, TOP - 17, Word("First trip:", bold=True), " add up", size=12)
    drawing.text(RIGHT, TOP - 17, Word("Second trip:", bold=True), " hand out", size=12)
    for turn in range(TURNS + 1):
        title = f"after turn {turn}" if turn else "at the start"
        panel(drawing, 0, TOP + turn * STEP, title, *found[turn])
    for turn in range(TURNS):
        title = f"after turn {turn + 1}"
        panel(drawing, RIGHT, TOP + turn * STEP, title, *found[TURNS + 1 + turn])
    drawing.lines(
        RIGHT,
        TOP + TURNS * STEP + 14,
        [Word("Framed:", "asking", bold=True), " what has just"],
        "arrived from the process",
        "above (from 3 for process 0).",
        [Word("Full:", "ink", bold=True), " all four are in the sum."],
        "At the end all hold the same.",
        size=11.5,
    )


def turning(drawing: Drawing) -> None:
    """Draw four processes in a ring; the script writes and moves their pieces."""
    with drawing.part("trip"):
        drawing.text(2, 13, "", size=13, bold=True)
    with drawing.part("sent"):
        drawing.text(358, 13, "", size=12, anchor="end", colour="soft")
    wide, high = ROOM
    one, two, three, four = (Box(*corner, wide, high) for corner in CORNERS)
    for begin, end in (
        ((one.right + 5, one.centre), (two.x - 5, two.centre)),
        ((two.middle, two.bottom + 5), (three.middle, three.y - 5)),
        ((three.x - 5, three.centre), (four.right + 5, four.centre)),
        ((four.middle, four.y - 5), (one.middle, one.bottom + 5)),
    ):
        drawing.arrow(begin, end, thick=2)
    for rank, (x, y) in enumerate(CORNERS):
        drawing.box(x, y, wide, high, colour="line")
        drawing.text(x + 8, y + 17, f"process {rank}", size=12, bold=True)
        for piece in range(PROCESSES):
            with drawing.part(f"piece-{rank}-{piece}"):
                left, top = x + wide - TILE[0] - 5, y + ROW[0] + piece * ROW[1]
                drawing.box(left, top, *TILE, " ", colour=COLOURS[piece], radius=3)
            drawing.text(x + 7, top + 15, f"{piece}", size=12, colour="soft")
    for rank in range(PROCESSES):
        with drawing.part(f"sent-{rank}"):
            drawing.box(0, 0, *BADGE, " ", colour="asking", radius=3, thick=2)


def ring(drawing: Drawing) -> None:
    """Draw the ring of processes, with arrows in the direction of sending."""
    x, y, wide, high = 16, 4, 82, 26
    right, down = x + wide + 62, y + 54
    places = [
        drawing.box(*corner, wide, high, f"process {rank}", size=12)
        for rank, corner in enumerate(((x, y), (right, y), (right, down), (x, down)))
    ]
    a, b, c, d = places
    for begin, end in (
        ((a.right + 3, a.centre), (b.x - 3, b.centre)),
        ((b.middle, b.bottom + 3), (c.middle, c.y - 3)),
        ((c.x - 3, c.centre), (d.right + 3, d.centre)),
        ((d.middle, d.y - 3), (a.middle, a.bottom + 3)),
    ):
        drawing.arrow(begin, end, thick=2)
    drawing.lines(
        b.right + 12,
        30,
        "Each sends one",
        "piece in a turn,",
        "to the next.",
        size=11.5,
    )


def panel(
    drawing: Drawing, x: float, y: float, title: str, held: Held, fresh: Fresh
) -> None:
    drawing.text(x, y, title, size=11, colour="soft")
    frames = []
    for rank, own in enumerate(held):
        top = y + 6 + rank * (HIGH + GAP)
        drawing.text(x + 4, top + 13, str(rank), size=11, colour="soft")
        for piece, numbers in enumerate(own):
            place = Box(x + 18 + piece * (WIDE + 2), top, WIDE, HIGH)
            full = "0" not in str(numbers) and numbers > 1000
            drawing.box(
                place.x,
                place.y,
                WIDE,
                HIGH,
                str(numbers),
                colour=COLOURS[piece],
                ground=full,
                size=11,
                bold=full,
                radius=2,
            )
            if (rank, piece) in fresh:
                frames.append(place)
    for place in frames:
        drawing.frame(place, around=0)
