"""The drawings: shown by name, equal to their code, legible in both themes."""

import itertools
import json
import math
import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from skimage.color import deltaE_ciede2000, rgb2lab
from torch.nn import functional as F

import vit_book
from book._extensions.dark_figures import IN_THE_DARK
from book.drawings import kit, one_tokens_work, qkv_rows
from book.drawings.__main__ import NAMES, drawn
from book.drawings.kit import SMALLEST, Box, Drawing, Word
from tests.conftest import CHAPTERS, ROOT, code_cells, read
from vit_book.drawings import FOLDER
from vit_book.results import read_results
from vit_steps import attention_cost, data
from vit_steps.patch_embedding import patchify

SVG = "{http://www.w3.org/2000/svg}"
every_drawing = pytest.mark.parametrize("name", NAMES)


# In a notebook


@every_drawing
def test_a_drawing_is_shown_by_its_name(name):
    drawing = vit_book.drawing(name)
    assert repr(drawing) == f"drawing: {name}"
    assert drawing._repr_svg_() == (FOLDER / f"{name}.svg").read_text("utf-8")


def test_an_unknown_drawing_is_refused():
    with pytest.raises(ValueError, match="^name: got 'cat', expected .*one_query"):
        vit_book.drawing("cat")


def test_ipython_shows_it_as_svg_and_text():
    from IPython.core.formatters import DisplayFormatter

    shown, _ = DisplayFormatter().format(vit_book.drawing("one_query"))
    assert shown.keys() == {"image/svg+xml", "text/plain"}


# Shipped drawings


def test_each_drawing_that_ships_is_drawn():
    assert sorted(file.stem for file in FOLDER.iterdir()) == NAMES


@every_drawing
def test_what_ships_is_what_is_drawn(name):
    shipped = (FOLDER / f"{name}.svg").read_bytes()
    assert shipped == drawn(name).encode("utf-8"), "run make drawings"


@every_drawing
def test_ids_and_classes_are_its_own(name):
    root = ElementTree.fromstring(drawn(name))
    ids = [part.get("id") for part in root.iter() if part.get("id")]
    assert len(set(ids)) == len(ids)
    assert all(i.startswith(f"vd-{name}-") for i in ids)
    assert root.get("class") == "vit-drawing"
    classes = {c for part in root.iter() for c in part.get("class", "").split()}
    assert all(c.startswith("vd-") for c in classes - {"vit-drawing"})
    assert root.get("aria-labelledby") in ids and root.get("aria-describedby") in ids
    assert len(root.find(f"{SVG}desc").text) > 100
    loads = r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|(?<!webp;)base64"
    assert not re.search(loads, drawn(name))
    hrefs = [part.get("href") for part in root.iter() if part.get("href")]
    assert all(h.startswith("data:image/") or h[1:] in ids for h in hrefs)


@every_drawing
def test_it_is_as_wide_as_a_phone_and_not_much_larger_on_a_desk(name):
    root = ElementTree.fromstring(drawn(name))
    left, top, width, height = map(float, root.get("viewBox").split())
    assert left == top == 0 and 340 <= width <= 380 and height <= 1000
    assert width <= float(root.get("width")) <= 1.7 * width
    ratio = float(root.get("width")) / float(root.get("height"))
    assert ratio == pytest.approx(width / height, rel=0.01)


@every_drawing
def test_apostrophes_are_curved(name):
    root = ElementTree.fromstring(drawn(name))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert not [text for text in texts if re.search(r"[a-z]'", text)]


@every_drawing
def test_no_text_is_small(name):
    root = ElementTree.fromstring(drawn(name))
    sizes = [float(p.get("font-size")) for p in root.iter() if p.get("font-size")]
    assert sizes and min(sizes) >= SMALLEST


# Colours


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def mixed(ground, colour, strength):
    parts = [
        round((1 - strength) * int(ground[i : i + 2], 16) + strength * int(c, 16))
        for i, c in ((i, colour[i : i + 2]) for i in (1, 3, 5))
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)


# Colab's dark ground, #383838, is the lightest; JupyterLab's is #111111.
@pytest.mark.parametrize(
    "theme, papers",
    [(kit.LIGHT, ["#ffffff"]), (kit.DARK, [kit.PAPER["dark"], "#111111", "#383838"])],
    ids=["light", "dark"],
)
def test_every_colour_of_letters_reads_on_every_ground(theme, papers):
    grounds = {ground for _, ground in theme.values()}
    for name, (ink, own) in theme.items():
        for paper in [*papers, own]:
            assert contrast(ink, paper) >= 4.5, (name, paper)
    for name in ("ink", "soft"):
        for ground in grounds - {theme["ink"][1]}:
            assert contrast(theme[name][0], ground) >= 4.5, (name, ground)


@pytest.mark.parametrize("theme", [kit.LIGHT, kit.DARK], ids=["light", "dark"])
def test_letters_read_on_cells_that_are_half_full(theme):
    ink = theme["ink"][0]
    for name in ("query", "key", "value", "asking", "class"):
        colour, ground = theme[name]
        assert contrast(ink, mixed(ground, colour, 0.4)) >= 4.5, name


def test_figures_and_lab_have_the_scale_of_the_plots():
    script = ROOT / "book" / "scripts" / "shared" / "scale.js"
    stops = re.findall(r'"([0-9a-f]{6})"', script.read_text("utf-8"))
    steps = np.linspace(0, 1, len(stops))
    assert stops == [kit.tone(share).removeprefix("#") for share in steps]


def test_letters_read_on_every_tone():
    for share in np.linspace(0, 1, 101):
        letters = f"#{2 * kit.letters_on(share)[1:]}"  # six digits of three
        assert contrast(letters, kit.tone(share)) >= 4.5, share


# How linear RGB is seen without red or green cones: Machado, Oliveira and Fernandes,
# doi.org/10.1109/TVCG.2009.113, severity 1.
SEEN = {
    "everyone": np.eye(3),
    "protanopes": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopes": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def seen_by(vision, colour):
    """Return a colour in CIELAB as this kind of colour vision sees it."""
    rgb = np.array(list(bytes.fromhex(colour[1:]))) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SEEN[vision]) @ linear, 0, 1)
    return rgb2lab(
        np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    )


GRAMMAR = ("query", "key", "value", "asking", "class", "position")
PALETTES = {
    "drawings, light": {name: kit.LIGHT[name][0] for name in GRAMMAR},
    "drawings, dark": {name: kit.DARK[name][0] for name in GRAMMAR},
    "plots, light": {name: vit_book.COLOURS[name] for name in IN_THE_DARK},
    "plots, dark": IN_THE_DARK,
}


@pytest.mark.parametrize("vision", SEEN)
@pytest.mark.parametrize("palette", PALETTES)
def test_colours_are_apart_for_every_eye(palette, vision):
    for (one, first), (other, second) in itertools.combinations(
        PALETTES[palette].items(), 2
    ):
        apart = deltaE_ciede2000(seen_by(vision, first), seen_by(vision, second))
        assert apart >= 12, (one, other)


@pytest.mark.parametrize("vision", SEEN)
def test_the_more_the_lighter_for_every_eye(vision):
    lightness = [seen_by(vision, kit.tone(share))[0] for share in np.linspace(0, 1, 17)]
    assert lightness == sorted(lightness) and np.diff(lightness).min() > 2


def test_the_lab_has_the_same_colours():
    style = (ROOT / "book" / "_assets" / "lab" / "lab.css").read_text("utf-8")
    for theme in (kit.LIGHT, kit.DARK):
        for short, name in (
            ("q", "query"),
            ("k", "key"),
            ("v", "value"),
            ("class",) * 2,
        ):
            assert f"--vl-{short}: {theme[name][0]};" in style, name


# The kit


def test_text_that_is_too_small_or_too_wide_is_refused():
    drawing = Drawing("a title", "a text")
    with pytest.raises(ValueError, match="^size: got 9 for 'small', at least 10.5"):
        drawing.text(0, 20, "small", size=9)
    with pytest.raises(ValueError, match="stands from 300 to .*, expected 0 to 360"):
        drawing.text(300, 20, "much too far to the right")
    with pytest.raises(ValueError, match="stands from -"):
        drawing.text(10, 20, "centred on the edge", anchor="middle")


def test_a_sheet_grows_and_moves_what_is_drawn_on_it():
    drawing = Drawing("a title", "a text")
    with drawing.at(10, 100):
        place = drawing.cells(0, 0, [["1", "2"], ["3", "4"]], (20, 10))
        drawing.text(0, 40, "up", Word("per", raised=4), " down")
    assert place.cell(1, 0, 2, 2) == Box(0, 10, 20, 10)
    root = ElementTree.fromstring(drawing.svg("test"))
    assert float(root.get("viewBox").split()[3]) == pytest.approx(148, abs=2)
    first = root.find(f"{SVG}rect")
    assert (first.get("x"), first.get("y")) == ("10", "100")
    line = root.findall(f"{SVG}text")[-1]
    assert "".join(line.itertext()) == "upper down"
    assert [span.get("dy") for span in line] == ["-4", "4"]


def test_what_moves_has_named_parts_and_numbers():
    drawing = Drawing("a title", "a text")
    drawing.numbers = {"values": [1, 2]}
    with drawing.part("one"), drawing.at(5, 5):
        drawing.box(0, 0, 10, 10)
    with drawing.part("knob", moving=True):
        drawing.circle(10, 10, 3)
    drawing.box(0, 0, 10, 10)
    root = ElementTree.fromstring(drawing.svg("test"))
    assert root.get("data-figure") == "test"
    assert json.loads(root.get("data-numbers")) == {"values": [1, 2]}
    one, knob = root.findall(f"{SVG}g")
    assert one.get("data-part") == "one" and one[0].get("x") == "5"
    assert (knob.get("class"), knob.get("display")) == ("vd-moving", "none")
    assert len(root.findall(f"{SVG}rect")) == 1


def test_each_drawing_that_moves_has_its_script():
    moving = {name for name in NAMES if "data-figure" in drawn(name)}
    folder = ROOT / "book" / "scripts" / "figures"
    assert moving == {file.stem for file in folder.glob("*.js")}


# The numbers


def test_one_query_has_the_numbers_of_the_chapter():
    from book.drawings.one_query import KEYS, QUERY, VALUES

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[4]))
    assert f"page_query = {QUERY}" in code
    assert f"page_keys = {KEYS}" in code
    assert f"page_values = {VALUES}" in code
    shown = "".join(
        o.get("text", "") for c in code_cells(CHAPTERS[4]) for o in c.outputs
    )
    for number in ("0.665", "0.245", "7.389", "2.718", "7.553", "3.348"):
        assert number in shown and f">{number}<" in drawn("one_query")


def test_the_softmax_saturates_as_in_the_chapter():
    from book.drawings.softmax_saturation import DIMS, best

    (cell,) = (c for c in code_cells(CHAPTERS[4]) if c.id == "competition")
    rows = [
        line.split()[-3:]
        for line in cell.outputs[0].data["text/plain"].splitlines()[1:]
    ]
    for divided, (largest, _) in enumerate((rows[:2], rows[2:])):
        for d, weight in zip((4, 64, 1024), largest, strict=True):
            assert f"{best(d, bool(divided)):.2f}" == weight
    assert {4, 64, 1024} <= set(DIMS)
    for number in ("0.76", "0.05"):
        assert f"{number}<" in drawn("softmax_saturation")


def test_fused_attention_has_the_numbers_of_the_chapter():
    from book.drawings.fused_attention import KEYS, QUERY, VALUES

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[11]))
    made = {}
    for line in code.splitlines():
        if line.startswith(("page_query =", "page_keys =", "page_values =")):
            exec(line, {"torch": torch}, made)
    assert made["page_query"].tolist() == QUERY
    assert made["page_keys"].tolist() == KEYS
    assert made["page_values"].tolist() == VALUES
    shown = "".join(
        o.get("text", "") + o.get("data", {}).get("text/plain", "")
        for c in code_cells(CHAPTERS[11])
        for o in c.outputs
    )
    for number in ("1.135", "1.203", "20.43", "1.60"):
        assert number in shown and f">{number}<" in drawn("fused_attention")


def test_the_roof_counts_attention_as_the_chapter_does():
    from book.drawings.roofline import BANDWIDTH, HEADS, PEAK, D, works

    cells = {cell.id: cell.source for cell in code_cells(CHAPTERS[11])}
    roof = read_results("benchmarks-gpu")["roof"]["attention"]
    attended = roof["rows"][::2]  # those that the chapter shows
    made = {"D": D, "h": HEADS, "roof": roof, "attended": attended}
    exec(cells["slow-memory-holds"], made)
    for T in (50, 197, 12545):
        explicit, fused, _ = works(T, images=1)
        expected = made["attention_intensities"](T)
        assert (explicit.intensity, fused.intensity) == pytest.approx(expected)
    for images in (1, 8):
        *_, linear = works(197, images)
        expected = made["work_of_layer"](images, D, 3 * D)
        assert (linear.flops, linear.moved) == expected
    assert made["ridge"] == pytest.approx(PEAK / BANDWIDTH)


def test_memory_over_a_step_has_the_numbers_of_the_chapter():
    from book.drawings.memory_over_a_step import CONFIG, held

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[11]))
    assert f"ViTConfig.tiny(num_classes={CONFIG.num_classes})" in code
    everything, inputs = held()
    shown = "".join(
        o.get("text", "") for c in code_cells(CHAPTERS[11]) for o in c.outputs
    )
    assert f"{max(mib for _, mib in everything):.2f} MiB" in shown
    waiting = max(mib for time, mib in inputs if time <= CONFIG.depth)
    assert f"{waiting:.2f} MiB" in shown


def test_layer_norm_has_the_numbers_of_the_chapter():
    from book.drawings.layer_norm import TOKENS

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[6]))
    assert all(str(token) in code for token in TOKENS)


def test_the_ring_ends_as_the_chapters():
    from book.drawings.ring import PROCESSES, states

    held, _ = states()[-1]
    last = "\n".join(str(own) for own in held)
    cell = next(c for c in code_cells(CHAPTERS[12]) if c.id == "ring-code")
    assert cell.outputs[0].text.strip() == last
    half_way, arrived = states()[PROCESSES - 1]
    assert arrived == {(rank, rank) for rank in range(PROCESSES)}
    assert [half_way[r][r] for r in range(PROCESSES)] == held[0]
    wrong, _ = states(own_first=True)[-1]
    assert all(own != held[0] for own in wrong), "the bug spoils every process"


def test_the_overlapped_step_has_the_numbers_of_the_chapter():
    from book.drawings.overlap import SPEED, sent, times

    assert [round(time) for time in times()] == [68, 45, 12]
    alt = next(
        c.metadata["mystnb"]["image"]["alt"]
        for c in code_cells(CHAPTERS[12])
        if c.id == "ring-seconds"
    )
    assert f"{sent() / 1e9:.2f} gigabytes" in alt
    assert f"with {SPEED / 1e9:.0f}, it takes 12" in alt


def test_who_holds_what_counts_a_block_as_the_model_has_it():
    from book.drawings.who_holds_what import CONFIG, block_gb
    from vit_steps import EncoderBlock

    with torch.device("meta"):
        block = EncoderBlock(CONFIG.embed_dim, CONFIG.num_heads)
    numbers = sum(parameter.numel() for parameter in block.parameters())
    assert 4 * numbers / 1e9 == pytest.approx(block_gb())


def test_the_patches_are_cut_as_the_package_cuts_them():
    from book.drawings.split_move_join import P, image, joined
    from book.drawings.unroll import NUMBERS, PATCH, SIZE, N

    assert torch.equal(joined, patchify(image[None, None], P)[0])
    whole = patchify(torch.arange(3 * SIZE**2).reshape(1, 3, SIZE, SIZE), 16)
    assert whole.shape == (1, N, NUMBERS)
    assert whole[0, PATCH, 0] == 80 * SIZE + 80, "80 from the top and 80 from the left"


@pytest.mark.parametrize("name", ["astronaut", "astronaut_224", "cat", "coffee"])
def test_photographs_are_those_of_the_package(name):
    with Image.open(kit.PHOTOGRAPHS / f"{name}.webp") as image:
        small = torch.frombuffer(
            bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8
        )
        side = image.width
    small = small.view(1, side, side, 3).permute(0, 3, 1, 2) / 255
    photo = vit_book.photo(name.partition("_")[0], size=224)[None]
    photo = F.interpolate(photo, (side, side), mode="bicubic", antialias=True)
    assert (small - photo).square().mean().sqrt() < 0.04


@pytest.mark.parametrize("side", [16, 64])
def test_a_small_photograph_has_the_pixels_of_its_size(side):
    with Image.open(kit.PHOTOGRAPHS / f"astronaut_{side}.webp") as image:
        pixels = torch.frombuffer(
            bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8
        ).view(1, 224, 224, 3)
    photo = F.interpolate(vit_book.photo("astronaut", side)[None], 224)
    assert (pixels.permute(0, 3, 1, 2) / 255 - photo).square().mean().sqrt() < 0.04


def test_the_windows_are_those_of_the_chapter():
    from book.drawings.three_windows import MIDDLE, SIDES, SMALL

    cell = next(c for c in code_cells(CHAPTERS[0]) if c.id == "picture-photo")
    column, row = MIDDLE
    assert f"row, column = {row}, {column}" in cell.source
    words = next(c for c in read(CHAPTERS[0]).cells if c.id == "picture").source
    assert all(f"{side}×{side}" in words for side in SMALL)
    assert {*SMALL, 224} <= {*SIDES}


def test_the_four_sizes_have_the_chapters_work_and_its_record():
    from book.drawings.four_sizes import RECORD, SIDES, D, tokens, work

    cells = {c.id: c.source for c in code_cells(CHAPTERS[11])}
    assert str(SIDES) in cells["picture-times"]
    assert all(f'"{word}"' in cells["picture-times"] for word in RECORD)
    space = {"D": D, "Table": lambda *_: None, "counts": ()}
    exec(cells["roofline-layer"].partition("table =")[0], space)
    for T in map(tokens, SIDES):
        assert space["layer_work"](T)[0] == 2 * work(T)


def test_a_photograph_is_kept_once_and_its_pieces_where_they_are_drawn():
    drawing = Drawing("a title", "a text")
    with drawing.at(10, 0):
        drawing.photograph(Box(0, 0, 100, 100), "cat")
        for x in (0, 50):
            drawing.photograph(Box(x, 120, 16, 16), "cat", Box(32, 48, 16, 16))
    root = ElementTree.fromstring(drawing.svg("test"))
    (defs,) = root.findall(f"{SVG}defs")
    assert [part.tag for part in defs] == [
        f"{SVG}{t}" for t in ("image", *2 * ["symbol"])
    ]
    boxes = [symbol.get("viewBox") for symbol in defs.findall(f"{SVG}symbol")]
    assert boxes == ["0 0 224 224", "32 48 16 16"]
    whole, *pieces = root.findall(f"{SVG}use")
    assert whole.get("href") == "#vd-test-cat-0" and whole.get("x") == "10"
    assert {piece.get("href") for piece in pieces} == {"#vd-test-cat-1"}


def test_the_temperatures_have_the_shares_of_the_chapter():
    from book.drawings.temperature import NAMES, SCORES, TAUS, shares

    cells = {cell.id: cell for cell in code_cells(CHAPTERS[0])}
    given = f"torch.tensor({list(map(float, SCORES))})  # (K,): {', '.join(NAMES)}"
    assert given in cells["softmax-naive"].source
    for line in cells["softmax-slope"].outputs[0].data["text/plain"].splitlines()[1:]:
        tau, share, _ = map(float, line.split())
        assert tau in TAUS
        assert f"{shares(tau)[0]:.3f}" == f"{share:.3f}"


def test_the_parts_to_scale_are_the_whole_model():
    from book.drawings.parameters_to_scale import ATTENTION, CONFIG, MLP, held

    assert sum(held().values()) == CONFIG.cost().parameters == 86_567_656
    for part, squares in (("attention", ATTENTION), ("MLP", MLP)):
        drawn_as_squares = CONFIG.depth * squares * CONFIG.embed_dim**2
        assert 1 <= held()[part] / drawn_as_squares < 1.002, "the rest is biases"


def test_the_bill_has_the_numbers_of_the_chapter():
    from book.drawings.bill import GPU, MODELS, large, macs, memory
    from vit_steps.vision_transformer import PRESETS, ViTConfig

    for label, (D, heads) in MODELS.items():
        start = label.removeprefix("ViT-").lower()  # "ti" of tiny, "b" of base
        name = next(name for name in PRESETS if name.startswith(start))
        preset = getattr(ViTConfig, name)
        assert (D, heads) == (preset().embed_dim, preset().num_heads)
        cost = preset(image_size=512, patch_size=16).cost()
        quadratic, _ = macs(1025, D)
        assert quadratic * preset().depth == cost.attention_macs
    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[1]))
    assert "quadratic, linear = layer.matmul_macs" in code
    for T in (197, 577, 4097):
        quadratic, linear = macs(T, 768)
        share = f"{quadratic / (quadratic + linear):.1%}"
        for shown in (f": T = {T:,} tokens", f">{share}<", f">{quadratic / 1e6:,.0f}<"):
            assert shown in drawn("three_bills")
    assert "4.1%" in drawn("bill") and "1.45 billion MACs" in drawn("bill")
    assert GPU == "a GPU of 80\u00a0GB" and memory(1_862_832) == "1.78 MiB"
    assert (
        large(4_224_000_000_000) == "4.22 trillion" and large(1e15) == "1 quadrillion"
    )


def test_the_streams_are_those_of_the_chapters_cells():
    """In float32, a stack without residuals leaves nothing but rounding errors."""
    from book.drawings.residual_stream import N, stacks

    ids = ["setup", "picture-tokens", "who-were-you", "module-mlp"]
    ids += ["module-encoder-block", "variants", "variants-same", "identity"]
    ids += ["norm-growth", "spread"]
    cells = {cell.id: cell.source for cell in code_cells(CHAPTERS[6])}
    made = {}
    for name in ids:
        exec(cells[name], made)
    for name, shares in made["recognised"].items():
        stack = stacks()[name]
        for block, share in enumerate(shares):
            count = stack.recognised[block]
            if count is None:
                assert share < 0.05
            else:
                assert count / N == pytest.approx(share, abs=0.011), (name, block)
        length = made["final"][name].norm(dim=2).mean().item()
        assert stack.lengths[-1][0] == pytest.approx(length, rel=1e-3)
        assert stack.lengths[0][0] == pytest.approx(made["before"], rel=1e-3)
    assert [count is None for count in stacks()["no residual"].recognised].index(
        True
    ) == 4


def test_what_is_left_of_the_start_is_a_part_of_the_stream():
    """That part is the effect of a change at the start with attention and MLP fixed."""
    from book.drawings.residual_stream import Stack, Stream

    torch.manual_seed(0)
    start, change = torch.randn(2, 1, 5, 8, dtype=torch.float64)
    stream = Stream(start, Stack(steps=2))
    stream.add(change)
    stream.norm()
    rest = stream.whole - stream.first
    normed = F.layer_norm(start + change, (8,), eps=1e-6)
    torch.testing.assert_close(stream.whole, normed)
    spread = (start + change).std(dim=2, correction=0, keepdim=True)
    centred = change - change.mean(dim=2, keepdim=True)
    torch.testing.assert_close(rest, centred / spread, rtol=1e-4, atol=1e-4)
    stream.replace(change)
    assert stream.first.norm() == 0 and torch.equal(stream.whole, change)


def test_the_flow_is_that_of_the_trained_model():
    from book.drawings.data_flow import PICTURES, SEEN, flows, weights_of
    from vit_steps.checkpoint import read_checkpoint
    from vit_steps.data import cluttered_digits
    from vit_steps.vision_transformer import VisionTransformer

    images, labels, _ = cluttered_digits.make(500, "test")
    _, card = read_checkpoint("cluttered-digits")
    inputs = data.normalize(images, card["mean"], card["std"])[list(PICTURES)]
    model = VisionTransformer.from_pretrained("cluttered-digits").double()
    with torch.no_grad():
        tokens, weights = model.encode(inputs.double(), need_weights=True)
        logits = model(inputs.double())
    assert logits.argmax(dim=1).tolist() == labels[list(PICTURES)].tolist()
    for picture, flow in enumerate(flows()):
        torch.testing.assert_close(flow["logits"], logits[picture])
        torch.testing.assert_close(flow["reads"][-1], logits[picture].softmax(dim=0))
        torch.testing.assert_close(flow["last"], tokens[picture, 0, :SEEN])
        for block, shares in enumerate(weights):
            found = weights_of(flow, block)
            torch.testing.assert_close(found, shares[picture, :, 0])


def test_letters_hold_the_numbers_of_the_flow():
    from book.drawings.data_flow import DIGITS, FINER, UNIT, packed

    numbers = {"tokens": torch.tensor([[-20.48, 1.234], [0, 20.47]]).double()}
    numbers["scores"] = torch.tensor([0.3333]).double()
    described, text = packed(numbers)
    assert described == [["tokens", [2, 2], UNIT], ["scores", [1], FINER["scores"]]]
    pairs = zip(text[::2], text[1::2], strict=True)
    counts = [64 * DIGITS.index(a) + DIGITS.index(b) - 2048 for a, b in pairs]
    assert counts == [-2048, 123, 0, 2047, 67]
    with pytest.raises(ValueError, match="^tokens: expected -2048 to 2047 units"):
        packed({"tokens": torch.tensor([20.5])})


def test_turned_or_added_has_the_scores_of_the_chapter():
    from book.drawings.turned_or_added import PLACES, SPEED, scores

    made = {"math": math}
    cells = {cell.id: cell.source for cell in code_cells(CHAPTERS[15])}
    exec(cells["hand-turn"], made)
    assert made["speed"] == SPEED
    for (m, n), found in zip(PLACES, scores(), strict=True):
        expected = [
            made["dot"](put(made["query"], m * SPEED), put(made["key"], n * SPEED))
            for put in (made["turn"], made["add_hand"])
        ]
        assert found == pytest.approx(expected)


def test_query_and_key_are_turned_as_in_the_chapter():
    """The still picture has the chapter's pair, and the scores of its loops."""
    from book.drawings.rotary import (
        KEY,
        PAIRS,
        QUERY,
        SIDE,
        STATES,
        added,
        score,
        signed,
        vector,
    )

    cells = {cell.id: cell.source for cell in code_cells(CHAPTERS[15])}
    assert f"query, key, speed = {QUERY}, {KEY}, 0.5" in cells["hand-turn"]
    made = {"math": math}
    exec(cells["hand-turn"], made)
    exec(cells["hand-grid"].split("\n\n\nfor ")[0], made)
    shown = drawn("rotary")
    for query, key in STATES:
        angles = [
            made["angles_with_loops"](*place, SIDE, SIDE, 2 * PAIRS)
            for place in (query, key)
        ]
        turned = [
            made["turn_with_loops"](vector(pair).tolist(), of)
            for pair, of in zip((QUERY, KEY), angles, strict=True)
        ]
        found = sum(a * b for a, b in zip(*turned, strict=True))
        assert score(query, key) == pytest.approx(found, abs=1e-5)
        placed = [
            [made["add_hand"](pair, angle) for angle in of]
            for pair, of in zip((QUERY, KEY), angles, strict=True)
        ]
        by_hand = sum(made["dot"](a, b) for a, b in zip(*placed, strict=True))
        assert added(query, key) == pytest.approx(by_hand, abs=1e-5)
        assert signed(found) in shown and signed(by_hand) in shown
    assert score(*STATES[0]) == pytest.approx(score(*STATES[1]), abs=1e-5)


def test_the_clocks_have_the_angles_of_the_chapter():
    from book.drawings.clocks import angles

    for clock, reached in enumerate(angles()):
        expected = [position / 10000 ** (2 * clock / 8) for position in range(5)]
        assert reached == pytest.approx(expected, abs=1e-6)


def test_the_squares_have_the_sizes_of_the_chapter():
    from book.drawings.square import COUNTS, PIXELS, TIMES

    assert COUNTS == [4, 16, 64, 196]
    assert PIXELS == 224**2 == TIMES * COUNTS[-1]


def test_the_valley_is_as_steep_as_its_numbers_say():
    from book.drawings.valley import LR, SEEN, STEEPER, STEPS, TOO_LARGE, path

    slow, quick = path("SGD", LR["SGD"]), path("AdamW", LR["AdamW"])
    x, y = slow[0]
    by_hand = x * (1 - LR["SGD"]) ** STEPS, y * (1 - STEEPER * LR["SGD"]) ** STEPS
    assert slow[-1] == pytest.approx(by_hand)
    assert LR["SGD"] < 2 / STEEPER < TOO_LARGE, (
        "beyond 2 over the slope it is thrown out"
    )
    assert abs(path("SGD", TOO_LARGE, SEEN)[-1][1]) > 2 * y
    assert abs(quick[-1][0]) < abs(slow[-1][0]) / 5


def test_the_covered_pictures_are_those_of_the_chapter():
    """The chapter uses float32, the drawing float64, to be equal on all machines."""
    from book.drawings.deletion_curve import ORDERS, PICTURES, pictures
    from book.drawings.where_it_looks import DIGITS
    from vit_steps.attention_maps import deletion_curve
    from vit_steps.checkpoint import read_checkpoint
    from vit_steps.data import cluttered_digits
    from vit_steps.vision_transformer import VisionTransformer

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[9]))
    assert PICTURES[:2] == DIGITS, "the chapter begins with them"
    for name in ORDERS:
        assert f'    "{name}": ' in code
    images, labels, boxes = cluttered_digits.make(500, "test")
    _, card = read_checkpoint("cluttered-digits")
    inputs = data.normalize(images, card["mean"], card["std"])
    model = VisionTransformer.from_pretrained("cluttered-digits")
    found, grey = pictures()
    assert grey == pytest.approx(card["mean"][0])
    for index, picture in zip(PICTURES, found, strict=True):
        assert picture.box == boxes[index].tolist()
        for curve in picture.curves.values():
            x, label = inputs[[index]], labels[[index]]
            order = torch.tensor(curve.order)[None]
            right = deletion_curve(model, x, label, order, range(65)).correct[:, 0]
            assert right.tolist() == [a == picture.label for a in curve.answers]
        with Image.open(kit.PHOTOGRAPHS / f"cluttered_digit_{index}.webp") as image:
            pixels = torch.frombuffer(
                bytearray(image.convert("L").tobytes()), dtype=torch.uint8
            ).view(224, 224)
        large = (255 * images[index, 0]).round().repeat_interleave(7, 0)
        assert torch.equal(pixels.float(), large.repeat_interleave(7, 1))


def test_the_pyramid_has_the_stages_of_the_model():
    from book.drawings.swin_pyramid import SWIN, stages
    from vit_steps.variants import SwinTransformer

    with torch.device("meta"):
        model = SwinTransformer(SWIN)
        x = model.patch_embed(torch.zeros(1, 3, 224, 224))
        for stage, (side, pixels, window, width) in zip(
            model.layers, stages(), strict=True
        ):
            x = stage(x)
            assert x.shape[1:] == (side, side, width)
            assert side * pixels == 224
            assert stage.blocks[0].window_size * pixels == window


def test_the_teacher_says_what_the_chapter_has_it_say():
    from book.drawings.deit import CLASS, DISTILLATION, TEACHER

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[13]))
    assert f"teacher_says = {TEACHER}" in code
    assert f"class_says, distillation_says = {CLASS}, {DISTILLATION}" in code


def said_of(chapter, identity):
    """Return the cell of a chapter and the alt text of its figure."""
    (cell,) = (c for c in code_cells(CHAPTERS[chapter]) if c.id == identity)
    return cell, cell.metadata["mystnb"]["image"]["alt"]


def test_the_window_whose_scores_are_drawn_is_one_of_the_chapter():
    from book.drawings.window_scores import WINDOW, numbers, signed, tokens
    from vit_steps.variants.swin import relative_position_index

    names, allowed = tokens()
    (rolled,) = (c for c in code_cells(CHAPTERS[13]) if c.id == "hand-roll")
    lines = filter(None, rolled.outputs[0].text.splitlines())
    pairs = [[pair.split() for pair in line.split("  ") if pair] for line in lines]
    windows = [
        above + below
        for upper, lower in zip(pairs[::2], pairs[1::2], strict=True)
        for above, below in zip(upper, lower, strict=True)
    ]
    assert windows[WINDOW] == names
    index = relative_position_index(2)
    table, scores, weights = numbers(allowed, index)
    sums = (scores.round(decimals=1) + table[index[0]].round(decimals=1))[allowed[0]]
    again = sums.softmax(dim=0).round(
        decimals=2
    )  # from the numbers as they are written
    torch.testing.assert_close(again, weights[allowed[0]].round(decimals=2))
    _, alt = said_of(13, "module-swin-scores")
    *first, last = (signed(score) for score in scores)
    assert f"scores {', '.join(first)} and {last};" in alt
    *first, last = (f"{weight:.2f}" for weight in weights)
    assert f"after the softmax {', '.join(first)} and {last}." in alt


def test_the_gated_mlp_has_as_many_weights_as_the_plain_one():
    from book.drawings.gated_mlp import GATED, PLAIN, D, weights

    plain, gated = weights()
    assert plain == gated == 2 * D * PLAIN == 3 * D * GATED
    _, alt = said_of(15, "hand-gate-drawing")
    assert f"both {plain:,} weights" in alt and f"{gated // 3:,}" in alt


def test_the_shifted_window_masks_what_the_chapter_masks():
    from book.drawings.swin_window import ROLLED, SHIFT, SIDE, W, mask, reach, windows

    name = kit.width_of("00", kit.SMALLEST)
    assert name < 0.8 * ROLLED.width / SIDE, "two names in a row can be told apart"
    made = {"torch": torch}
    for name in ("hand-windows-cut", "hand-mask-loops"):
        (cell,) = (c for c in code_cells(CHAPTERS[13]) if c.id == name)
        exec("\n".join(cell.source.split("\n\n\n")[:-1]), made)
    by_hand = made["may_attend_with_loops"](SIDE, SIDE, W, SHIFT)
    assert torch.equal(mask, by_hand)
    assert windows[-1].tolist() == [77, 70, 7, 0], "the last window has the corners"
    allowed = mask.sum(dim=(1, 2)).tolist()
    assert sorted(allowed) == [4] + 6 * [8] + 9 * [16]
    assert [len(reach(33, blocks)) for blocks in (1, 2, 3, 4)] == [4, 16, 36, 64]


def test_three_tokens_collect_what_the_chapters_do():
    from book.drawings.shuffled_tokens import ADDED, ORDERS, TOKENS, arranged, terms

    made = {"torch": torch}
    (cell,) = (c for c in code_cells(CHAPTERS[3]) if c.id == "three-tokens")
    assert f"permutations({TOKENS})" in cell.source
    exec(cell.source.split("\n\n\n")[0], made)
    for placed in (False, True):
        for order in ORDERS:
            numbers = arranged(order, placed)
            total = terms(numbers)[1].sum().item()
            assert made["collected"](*numbers) == pytest.approx(total)
            assert f">{total:.3f}<" in drawn("shuffled_tokens")
    assert ADDED == (0, 0.5, 1)


def test_the_patch_asks_as_in_the_chapter():
    from book.drawings.asking_patch import ASKS, SHOULDER, SIDE, attention

    (cell,) = (c for c in code_cells(CHAPTERS[4]) if c.id == "picture-weights")
    said = cell.outputs[0].data["text/plain"]
    for row, column in (ASKS, SHOULDER):
        weight = attention()[SIDE * ASKS[0] + ASKS[1], SIDE * row + column].item()
        assert f"{weight:.4f}" in said


def test_positions_are_as_similar_as_in_the_chapter():
    from book.drawings.position_similarity import (
        EMBED_DIM,
        SIDE,
        below_diagonal,
        positions,
        seen_from,
    )
    from vit_steps.attention_maps import position_similarity
    from vit_steps.vision_transformer import VisionTransformer

    places = torch.arange(SIDE**2, dtype=torch.float64)[:, None]
    speeds = 10000 ** -(torch.arange(EMBED_DIM // 2) / (EMBED_DIM // 2)).double()
    angles = places * speeds  # (N, D/2)
    clocks = torch.cat([angles.sin(), angles.cos()], dim=1).float()
    torch.testing.assert_close(positions("1-D"), clocks)
    trained = VisionTransformer.from_pretrained("cluttered-digits")
    expected = position_similarity(trained.pos_embed, 8)
    torch.testing.assert_close(seen_from("after", (3, 3)).float(), expected[3, 3])
    hundredths = below_diagonal("after")
    assert len(hundredths) == 64 * 63 // 2
    assert hundredths[28 * 27 // 2 + 27] == round(100 * expected[3, 4, 3, 3].item())


def test_positions_are_resized_as_the_package_does():
    from book.drawings.resized_positions import OLD, SIDES, shares
    from vit_steps.embedding import interpolate_position_embedding
    from vit_steps.vision_transformer import VisionTransformer

    trained = VisionTransformer.from_pretrained("cluttered-digits").double()
    table = trained.pos_embed.detach()
    for side in SIDES:
        expected = interpolate_position_embedding(table, side)[0, 1:]
        torch.testing.assert_close(shares("bicubic", side) @ table[0, 1:], expected)
        torch.testing.assert_close(
            shares("bilinear", side).sum(dim=1), torch.ones(side**2).double()
        )
    first = shares("cut off", OLD - 2) @ table[0, 1:]
    assert torch.equal(first, table[0, 1 : 1 + (OLD - 2) ** 2])


def test_the_ladder_stops_where_the_chapter_says():
    from book.drawings.first_difference import HEADS, compared

    (cell,) = (c for c in code_cells(CHAPTERS[10]) if c.id == "breaks-places")
    places, largest, found = compared()
    (row,) = (
        line.split()
        for line in cell.outputs[0].data["text/plain"].splitlines()
        if line.startswith(f"{HEADS} heads")
    )
    assert row[-2:] == [places[found], places[found - 1]]
    assert f"differ by up to {largest}" in drawn("first_difference")


def test_the_names_are_those_of_the_chapter():
    from book.drawings.names import apart, pairs

    code = "\n".join(cell.source for cell in code_cells(CHAPTERS[10]))
    assert len(pairs()) == 11
    for theirs, ours in pairs():
        assert f"{theirs}" in code and f"{ours}" in code
        assert f">{theirs}<" in drawn("names") and f">{ours}<" in drawn("names")
    assert apart() == [f"attention.{letter}_proj" for letter in "qkv"]


def test_an_output_is_made_of_what_the_chapter_prints():
    from book.drawings.made_of import TOKENS, answer

    said = {
        cell.id: cell.outputs[0].text
        for cell in code_cells(CHAPTERS[14])
        if cell.id.startswith("hand-") and cell.outputs and "text" in cell.outputs[0]
    }
    for image, outputs in enumerate(answer("left out").outputs):
        assert f"image {image} {outputs}" in said["hand-together"]
    assert said["hand-gradient"].splitlines() == [
        str(row) for row in answer("left out").made_of
    ]
    mended = answer("given")
    for name, rows in {
        "both images": mended.outputs,
        "made of": mended.made_of,
    }.items():
        rounded = [[round(number, 2) for number in row] for row in rows]
        assert f"{name} {rounded}" in said["hand-mended"]
    assert f"torch.tensor({torch.tensor(TOKENS).double().tolist()})" in "\n".join(
        cell.source for cell in code_cells(CHAPTERS[14])
    )


def test_the_poster_of_symptoms_names_the_cases_of_the_chapter():
    """A case has its symptom as a heading, and the name of its bug in a fold."""
    path = next(p for p in CHAPTERS if p.stem == "14_bug_clinic")
    text = "\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
    numbers = re.findall(r"^### Case (\d)", text, re.MULTILINE)
    assert numbers == [str(n) for n in range(1, 10)]
    assert len(re.findall(r"^\*\*The bug: ", text, re.MULTILINE)) == 9
    said = re.findall(r"\((\d)\)", drawn("symptoms"))
    assert sorted(set(said)) == numbers, "each case is on the poster"
    assert "1.46" in drawn("symptoms") and "1.4612" in text


def test_the_rows_of_q_k_and_v_are_there_in_both_orders():
    D, h = qkv_rows.D, qkv_rows.h
    rows = torch.arange(3 * D).reshape(3, h, D // h)
    assert qkv_rows.order(rows) == list(range(3 * h))
    assert [divmod(block, h) for block in qkv_rows.order(rows.transpose(0, 1))] == [
        (part, head) for head in range(h) for part in range(3)
    ]
    row = r">([qkv])</tspan> of head (\d), no. (\d)"
    shown = Counter(re.findall(row, vit_book.drawing("qkv_rows").svg))
    assert len(shown) == 3 * D and set(shown.values()) == {2}


def test_the_work_for_one_token_is_that_of_the_package():
    cost = attention_cost(one_tokens_work.T, one_tokens_work.D)
    alone = cost.projection_macs / one_tokens_work.T + 8 * one_tokens_work.D**2
    svg = vit_book.drawing("one_tokens_work").svg
    assert alone == 12 * one_tokens_work.D**2 and f" = {alone / 1e6:.1f} million" in svg
    assert f" = {cost.matmul_macs / one_tokens_work.T / 1e6:.1f} million" in svg
    squares = sum(group[0] for group in one_tokens_work.GROUPS)
    assert squares == 12
