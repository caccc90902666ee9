"""The lab: its scripts compute what PyTorch computes, and every hand can drive it."""

import base64
import json
import re
import shutil
import subprocess

import pytest
import torch
from playwright.sync_api import expect
from torch.testing import assert_close

from book import lab_data as lab
from tests.conftest import ROOT
from tests.site.conftest import in_all_fonts
from vit_steps import VisionTransformer
from vit_steps.attention_maps import (
    attention_rollout,
    class_token_to_patches,
    mass_inside,
)
from vit_steps.checkpoint import read_checkpoint
from vit_steps.cost import attention_cost, token_count
from vit_steps.data import cluttered_digits, normalize
from vit_steps.vision_transformer import ViTConfig

SCRIPTS = ROOT / "book" / "_assets" / "lab"
PAGE = "book/lab.html"
PATIENCE = 60_000  # milliseconds, for a busy machine
_, CARD = read_checkpoint(lab.MODEL)


def content_of(name):
    text = (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")
    called, content = text.split(", ", 1)
    assert called == f'vitLab.receive("{name}"'
    return json.loads(content.removesuffix(");\n"))


def trained():
    return VisionTransformer.from_pretrained(lab.MODEL)


def rough():
    """A model none of whose numbers float16 can hold."""
    model = trained()
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += (
                1e-3 * parameter.std().nan_to_num(0.1) * torch.randn_like(parameter)
            )
    return model


# What is written


def test_unit_tests_of_the_scripts():
    node = shutil.which("node")
    if node is None:
        from playwright._impl._driver import compute_driver_executable

        node = compute_driver_executable()[0]
    tests = sorted(map(str, (ROOT / "tests" / "site" / "lab").glob("*.test.js")))
    assert len(tests) >= 5
    done = subprocess.run([node, "--test", *tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert re.search(r"fail 0\b", done.stdout)


@pytest.mark.parametrize("name", ["trained", "untrained"])
def test_weights_are_those_of_the_package(name):
    model = trained() if name == "trained" else lab.RECIPES[lab.MODEL].build()
    expected = lab.model_content(model, CARD["mean"], CARD["std"], torch.float16)
    written = content_of(name)
    assert {key: written[key] for key in expected} == expected


def test_shipped_weights_lose_nothing_in_float16():
    for parameter in trained().parameters():
        assert_close(parameter.half().float(), parameter, rtol=0, atol=0)


def test_pictures_are_held_out():
    assert content_of("pictures") == lab.pictures_content()
    held_out = cluttered_digits.digits_split(cluttered_digits.digits()[1])["test"]
    assert len(content_of("pictures")["labels"]) == 30 <= len(held_out)


def test_sizes_are_those_that_the_data_set_is_made_with():
    text = (SCRIPTS / "sizes.js").read_text(encoding="utf-8")
    sizes = json.loads(text[text.index(".sizes = ") + 9 : text.rindex(";")])
    assert sizes == lab.sizes_content()


def test_accuracies_are_measured():
    written = content_of("trained")["measured"]
    found = lab.measure(trained(), CARD["mean"], CARD["std"])
    assert written["images"] == found["images"] == 1000
    for key in ("trained", "untrained", "shuffled", "headOff"):
        one, other = torch.tensor(written[key]), torch.tensor(found[key])
        assert_close(one, other, rtol=0, atol=4e-3)


def test_numbers_of_the_text():
    text = (ROOT / "book" / "lab.md").read_text(encoding="utf-8").replace("\xa0", " ")
    model = trained()
    parameters = sum(p.numel() for p in model.parameters())
    assert f"{round(parameters, -4):,} parameters" in text
    lines = (SCRIPTS / "model.js").read_text(encoding="utf-8").count("\n")
    assert f"about {round(lines / 50) * 50} lines" in text

    assert "hardly ever gets more than 92 %" in text
    images, labels, _ = cluttered_digits.make(part="test")
    with torch.inference_mode():
        logits = model(normalize(images, CARD["mean"], CARD["std"]))
    surest = logits.softmax(dim=1).amax(dim=1)
    assert (surest >= 0.925).double().mean() < 0.02

    assert f"On {len(labels):,} images it hardly matters which" in text
    without = content_of("trained")["measured"]["headOff"]
    assert max(map(max, without)) - min(map(min, without)) < 0.03


def test_command_writes_all(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(lab, "measure", lambda *_: {"images": 1000})
    assert lab.main([str(tmp_path / "new"), "--dtype", "float32"]) == 0
    names = {path.name for path in (tmp_path / "new").iterdir()}
    written = {"trained.js", "untrained.js", "sizes.js", "pictures.js", "cat.jpg"}
    assert names == written
    assert "trained.js" in capsys.readouterr().out
    assert '"dtype":"float32"' in (tmp_path / "new" / "trained.js").read_text()


def test_what_the_lab_cannot_show_is_refused():
    with pytest.raises(ValueError, match="dtype: got torch.float64"):
        lab.model_content(trained(), [0.0], [1.0], torch.float64)
    config = ViTConfig.tiny(image_size=32, patch_size=4, layer_scale=0.1)
    with pytest.raises(ValueError, match="model: got ViTConfig"):
        lab.model_content(VisionTransformer(config), [0.0], [1.0], torch.float16)


# What is computed


@pytest.fixture(scope="module")
def page(browser, site):
    """The lab with every panel open, and an empty list of what went wrong."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.errors = []
    tab.on(
        "console", lambda m: tab.errors.append(m.text) if m.type == "error" else None
    )
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(site + PAGE)
    open_all(tab)
    yield tab
    tab.close()


def open_all(tab):
    for place in tab.locator(".vit-lab").all():
        place.scroll_into_view_if_needed()
        place.and_(tab.locator("[data-state=open]")).wait_for(timeout=PATIENCE)


FORWARD = """([name, images, options]) => {
  const off = new Set(options.off);
  const model = vitLab.model(name);
  const parts = { logits: [], weights: [], rollout: [] };
  for (const image of images) {
    const { logits, weights } = vitLab.forward(model, image, { ...options, off });
    const passed = vitLab.rollout(weights, model.heads, 65);
    parts.logits.push(logits);
    parts.weights.push(...weights);
    parts.rollout.push(vitLab.toPatches(vitLab.row(passed, 0, 0, 65)));
  }
  const base64 = async (arrays) => new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",")[1] ?? "");
    reader.readAsDataURL(new Blob(arrays));
  });
  return Promise.all(Object.values(parts).map(base64));
}"""


def in_the_page(tab, name, images, **options):
    """Logits (B, K), weights (B, L, h, T, T) and rollouts (B, N) of the page's code."""
    found = tab.evaluate(
        FORWARD, [name, images.flatten(1).tolist(), {"off": [], **options}]
    )
    logits, weights, rollout = (
        torch.frombuffer(bytearray(base64.b64decode(one)), dtype=torch.float64)
        for one in found
    )
    B, T = len(images), 65
    return logits.view(B, -1), weights.view(B, -1, 4, T, T), rollout.view(B, -1)


def in_pytorch(model, images):
    with torch.inference_mode():
        inputs = normalize(images, CARD["mean"], CARD["std"])
        tokens, weights = model.encode(inputs, need_weights=True)
        logits = model.head(tokens[:, 0])
        rollout = class_token_to_patches(attention_rollout(weights))
    return logits.double(), torch.stack(weights, dim=1).double(), rollout.double()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_weights_of_either_sort_give_pytorchs_logits_and_attention(page, dtype):
    model = rough()
    images, _, _ = cluttered_digits.make(20, part="test")
    content = lab.model_content(model, CARD["mean"], CARD["std"], dtype)
    page.evaluate("([c]) => vitLab.receive('rough', c)", [content])
    found = in_the_page(page, "rough", images)
    rounded = model.to(dtype).float()  # what the file holds
    for one, other in zip(found, in_pytorch(rounded, images), strict=True):
        assert_close(one, other, rtol=0, atol=1e-5)


def test_200_images_through_what_is_shipped(page):
    images, _, _ = cluttered_digits.make(200, part="test", seed=1)
    found = in_the_page(page, "trained", images)
    for one, other in zip(found, in_pytorch(trained(), images), strict=True):
        assert_close(one, other, rtol=0, atol=1e-5)


def test_switches_do_what_they_say(page):
    images, _, _ = cluttered_digits.make(10, part="test", seed=1)
    model = trained()
    for options, changed in (
        ({"shuffled": True}, lab.with_shuffled_positions(model)),
        ({"off": ["2.1"]}, lab.without_head(model, 2, 1)),
        (
            {"off": ["0.0", "3.2"]},
            lab.without_head(lab.without_head(model, 0, 0), 3, 2),
        ),
    ):
        found, expected = (
            in_the_page(page, "trained", images, **options),
            in_pytorch(changed, images),
        )
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, rtol=0, atol=1e-4)
        assert (found[0] - in_pytorch(model, images)[0]).abs().max() > 0.05


def test_untrained_weights_say_nothing(page):
    page.evaluate("vitLab.fetch('untrained')")
    page.wait_for_function("vitLab.has('untrained')")
    images, _, _ = cluttered_digits.make(3, part="test")
    logits, weights, _ = in_the_page(page, "untrained", images)
    assert (logits == 0).all()
    assert_close(
        weights,
        in_pytorch(lab.RECIPES[lab.MODEL].build().eval(), images)[1],
        rtol=0,
        atol=1e-3,
    )


def test_every_step_is_pytorchs(page):
    images, _, _ = cluttered_digits.make(1, part="test")
    steps = page.evaluate(
        """(image) => {
          const steps = {};
          const watch = (name, ...step) => { steps[name] = step; };
          vitLab.forward(vitLab.model("trained"), image, { watch });
          for (const step of Object.values(steps)) step[1] = [...step[1]];
          return steps;
        }""",
        images.flatten().tolist(),
    )
    model = trained()
    inputs = normalize(images, CARD["mean"], CARD["std"])
    with torch.inference_mode():
        x = model.embed(inputs)
        expected = {
            "image": images[0],
            "patch_embed": model.patch_embed(inputs)[0],
            "pos_embed": model.pos_embed[0],
            "embed": x[0],
        }
        for index, block in enumerate(model.blocks):
            name, normed = f"blocks.{index}", block.norm1(x)
            expected[f"{name}.norm1"] = normed[0]
            attended, weights = block.attn(normed, need_weights=True)
            expected[f"{name}.attn.weights"] = weights[0]
            expected[f"{name}.attn.proj"] = attended[0]
            expected[f"{name}.residual1"] = (x + attended)[0]
            normed = block.norm2(x + attended)
            expected[f"{name}.norm2"] = normed[0]
            expected[f"{name}.mlp.fc2"] = block.mlp(normed)[0]
            x, _ = block(x)
            expected[name] = x[0]
        expected["norm"] = model.norm(x)[0]
        expected["head"] = model(inputs)[0]
        expected["probabilities"] = model(inputs)[0].softmax(dim=0)
    for name, tensor in expected.items():
        shape, values = steps[name]
        assert shape == list(tensor.shape), name
        assert_close(torch.tensor(values).view(shape), tensor, rtol=0, atol=1e-4)
    assert len(steps) == 6 + 13 * 4 + 4


def test_mass_inside_is_pytorchs(page):
    torch.manual_seed(0)
    shares = torch.rand(30, 64).softmax(dim=1)
    corners = torch.randint(0, 17, (30, 2))
    boxes = torch.cat([corners, corners + 16], dim=1)
    found = page.evaluate(
        """([shares, boxes]) => shares.map((row, i) => {
          const [top, left, bottom, right] = boxes[i];
          const box = { top, left, bottom, right };
          return vitLab.massInside(row, box, vitLab.model("trained"));
        })""",
        [shares.tolist(), boxes.tolist()],
    )
    assert_close(torch.tensor(found), mass_inside(shares, boxes, 32, 4))


def test_scene_is_put_together_as_the_data_set_is(page, monkeypatch):
    """The same digit, ground and box; only the one scrap, drawn at random, differs."""
    for name, value in {"TURN": 0.0, "ZOOM": 0.0, "INK": 1.0, "SCRAPS": 1}.items():
        monkeypatch.setattr(cluttered_digits, name, value)
    digits, labels = cluttered_digits.digits()
    ground = torch.rand(1, 1, 32, 32)
    for index in (0, 7, 100):
        (image,), _, (box,) = cluttered_digits.cluttered_digits(
            digits[index, None], labels[index, None], ground, 1, seed=index
        )
        top, left = box[:2].tolist()
        composed = page.evaluate(
            """([digit, pixels, top, left]) => [...vitLab.compose({
              digit, top, left, scraps: [],
              ground: { pixels, rows: 32, columns: 32, top: 0, left: 0 },
            })]""",
            [digits[index].flatten().tolist(), ground.flatten().tolist(), top, left],
        )
        composed = torch.tensor(composed).view(32, 32)
        differs = ((composed - image[0]).abs() > 1e-6).nonzero()
        assert len(differs) <= 36
        assert (differs.amax(dim=0) - differs.amin(dim=0) < 6).all()
        inside = (differs >= box[:2]) & (differs < box[2:])
        assert not inside.all(dim=1).any()


def test_costs_are_the_packages(page):
    for name, preset in (
        ("ViT-Ti", ViTConfig.tiny),
        ("ViT-S", ViTConfig.small),
        ("ViT-B", ViTConfig.base),
        ("ViT-L", ViTConfig.large),
        ("ViT-H", ViTConfig.huge),
    ):
        for image_size, patch_size in ((224, 16), (512, 8), (32, 32)):
            found = page.evaluate(
                "([n, s, p]) => vitLab.modelCost(n, s, p)",
                [name, image_size, patch_size],
            )
            config = preset(
                image_size=image_size, patch_size=patch_size, num_classes=1000
            )
            tokens = token_count(image_size, patch_size)
            assert found == {
                "tokens": tokens,
                "total": config.cost().macs,
                "attention": config.cost().attention_macs,
            }
            bytes_ = page.evaluate("(n) => vitLab.matrixBytes(n)", tokens)
            assert bytes_ == attention_cost(tokens, 64).matrix_bytes


# How it is driven


def panel(tab, name):
    return tab.locator(f".vit-lab[data-panel={name}]")


def drawn(tab):
    """Wait for the frame after the next: what was asked for by now is in it."""
    tab.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() =>"
        " requestAnimationFrame(() => setTimeout(done))))"
    )


def shown_equals_pytorchs(tab, model=None):
    """The numbers on the page, against PyTorch's for the image on the page."""
    panel(tab, "attention").scroll_into_view_if_needed()  # else it waits
    drawn(tab)
    image = torch.tensor(tab.evaluate("[...vitLab.source.image()]")).view(1, 1, 32, 32)
    logits, weights, rollout = in_pytorch(model or trained(), image)
    where = tab.evaluate("vitLab.source.box()")
    box = torch.tensor([[where[s] for s in ("top", "left", "bottom", "right")]])
    attention = class_token_to_patches(weights)  # (1, L, h, N)
    masses = mass_inside(attention, box, 32, 4)[0]
    look = panel(tab, "attention")
    for block in range(4):
        for head in range(4):
            name = look.get_by_role("button", name=f"block {block}, head {head}:")
            shown = int(re.search(r"(\d+)\s%", name.get_attribute("aria-label"))[1])
            assert abs(shown - 100 * masses[block, head]) <= 0.51
    name = look.get_by_role("button", name="rollout").get_attribute("aria-label")
    expected = 100 * mass_inside(rollout, box, 32, 4).item()
    assert abs(int(re.search(r"(\d+)\s%", name)[1]) - expected) <= 0.51
    probabilities = logits.softmax(dim=1)[0]
    shown = [
        int(text.strip("\xa0%")) for text in look.locator(".vl-value").all_inner_texts()
    ]
    assert_close(torch.tensor(shown).double(), 100 * probabilities, rtol=0, atol=0.51)
    return where, look.locator(".vl-answer").inner_text()


def centre_of_digit(tab):
    handle = panel(tab, "attention").locator(".vl-handle")
    handle.scroll_into_view_if_needed()
    area = handle.bounding_box()
    return area["x"] + area["width"] / 2, area["y"] + area["height"] / 2


def test_mouse_drags_the_digit(page):
    before, _ = shown_equals_pytorchs(page)
    x, y = centre_of_digit(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 45, y + 62, steps=5)
    page.mouse.up()
    after, said = shown_equals_pytorchs(page)
    assert (after["top"] - before["top"], after["left"] - before["left"]) == (6, -4)
    assert said.startswith("It says ")
    page.mouse.move(x, y)  # let go: it stays
    assert page.evaluate("vitLab.source.box().top") == after["top"]


def test_keyboard_moves_the_digit_and_it_stays_inside(page):
    board = panel(page, "attention").get_by_role("application").first
    board.focus()
    for _ in range(12):
        page.keyboard.press("ArrowUp")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    where, _ = shown_equals_pytorchs(page)
    assert (where["top"], where["right"]) == (0, 32)


def test_digit_ground_and_distractors_are_chosen(page):
    look = panel(page, "attention")
    look.get_by_role("button", name="digit 7").click()
    look.get_by_label("Background").select_option("none")
    look.get_by_label("Distractors").fill("0")
    look.get_by_label("Distractors").press("Enter")
    _, said = shown_equals_pytorchs(page)
    assert said.startswith("It says 7")
    image = torch.tensor(page.evaluate("[...vitLab.source.image()]")).view(32, 32)
    where = page.evaluate("vitLab.source.box()")
    assert image[:, : where["left"]].max() == 0
    first = page.evaluate("[...vitLab.source.scene.digit]")
    look.get_by_role("button", name="digit 7").click()
    assert page.evaluate("[...vitLab.source.scene.digit]") != first
    look.get_by_label("Distractors").fill("5")
    look.get_by_label("Distractors").press("Enter")
    look.get_by_label("Background").select_option("brick")
    assert page.evaluate("vitLab.source.scene.scraps.length") == 5
    shown_equals_pytorchs(page)


def test_a_digit_is_drawn_with_the_mouse_and_with_the_keyboard(page):
    look = panel(page, "attention")
    look.get_by_role("button", name="Draw one").click()
    pad = look.get_by_role("application", name="Drawing pad")
    pad.scroll_into_view_if_needed()
    area = pad.bounding_box()
    x = area["x"] + area["width"] / 2
    page.mouse.move(x, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(x, area["y"] + area["height"] - 20, steps=8)
    page.mouse.up()
    _, said = shown_equals_pytorchs(page)
    assert said.startswith("It says 1")
    look.get_by_role("button", name="Wipe").click()
    pad.focus()
    page.keyboard.press("Space")
    for key, count in (("ArrowRight", 8), ("ArrowDown", 14)):
        for _ in range(count):
            page.keyboard.press(key)
    drawn = torch.tensor(page.evaluate("[...vitLab.source.scene.digit]")).view(8, 8)
    assert drawn[0].sum() > 1 and drawn[:, 5:].sum() > 2 and drawn[3:, :3].sum() == 0
    shown_equals_pytorchs(page)
    look.get_by_role("button", name="Draw one").click()
    look.get_by_role("button", name="digit 3").click()


def test_any_patch_may_ask(page):
    look = panel(page, "attention")
    picker = look.get_by_role("application", name="The patches.")
    picker.focus()
    page.keyboard.press("ArrowRight")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert "row 2, column 1" in look.locator("table.vl-maps caption").inner_text()
    image = torch.tensor(page.evaluate("[...vitLab.source.image()]")).view(1, 1, 32, 32)
    _, weights, _ = in_pytorch(trained(), image)
    row = weights[0, 3, 2, 1 + 17, 1:]
    where = page.evaluate("vitLab.source.box()")
    box = torch.tensor([[where[s] for s in ("top", "left", "bottom", "right")]])
    expected = 100 * mass_inside((row / row.sum())[None], box, 32, 4).item()
    label = look.get_by_role("button", name="block 3, head 2:").get_attribute(
        "aria-label"
    )
    assert abs(int(re.search(r"(\d+)\s%", label)[1]) - expected) <= 0.51
    canvas = look.locator(".vl-cut")
    canvas.scroll_into_view_if_needed()
    canvas.click(position={"x": 5, "y": 200})
    assert "row 7, column 0" in look.locator("table.vl-maps caption").inner_text()
    page.keyboard.press("Home")
    look.get_by_role("button", name="Class token").click()
    assert "the class token" in look.locator("table.vl-maps caption").inner_text()


def digits_said(look, tab):
    said = []
    for digit in range(10):
        look.get_by_role("button", name=f"digit {digit}").click()
        drawn(tab)
        said.append(look.locator(".vl-answer").inner_text())
    return [int(re.match(r"It says (\d)", words)[1]) for words in said]


def test_things_to_try_have_something_to_show(browser, site):
    assert CARD["train_config"]["label_smoothing"] == 0.1  # a target of 91 %
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(site + PAGE)
    open_all(page)
    look = panel(page, "attention")
    assert digits_said(look, page) == list(range(10))
    look.get_by_label("shuffle the positions").check()
    wrong = sum(said != digit for digit, said in enumerate(digits_said(look, page)))
    assert 2 <= wrong <= 8
    look.get_by_label("shuffle the positions").uncheck()

    look.get_by_role("button", name="digit 3").click()
    look.get_by_label("Distractors").fill("0")
    look.get_by_label("Distractors").press("Enter")
    for ground in ("brick", "grass", "gravel", "none"):
        look.get_by_label("Background").select_option(ground)
        drawn(page)
        labels = [
            one.get_attribute("aria-label")
            for one in look.get_by_role("button", name=", head ").all()
        ]
        shares = [int(re.search(r"(\d+)\s%", label)[1]) for label in labels]
        assert len(shares) == 16
        assert labels[shares.index(min(shares))].startswith("block 0, head 2")
    another = look.get_by_role("button", name="Cut another piece")
    assert another.is_disabled()  # black has no other piece
    look.get_by_label("Background").select_option("grass")
    assert another.is_enabled()
    page.close()


def test_a_crossed_out_digit_is_another_digit_and_a_wiped_one_is_gone(page):
    look = panel(page, "attention")
    look.get_by_role("button", name="Draw one").click()
    look.get_by_role("button", name="Wipe").click()
    assert page.evaluate("vitLab.source.scene.digit.every((ink) => ink === 0)")
    pad = look.get_by_role("application", name="Drawing pad")
    pad.scroll_into_view_if_needed()
    area = pad.bounding_box()
    for *start, x, y in ((72, 15, 72, 130), (15, 15, 130, 130), (130, 15, 15, 130)):
        page.mouse.move(area["x"] + start[0], area["y"] + start[1])
        page.mouse.down()
        page.mouse.move(area["x"] + x, area["y"] + y, steps=8)
        page.mouse.up()
    drawn(page)
    said = look.locator(".vl-answer").inner_text()
    digit, sure = re.match(r"It says (\d), with (\d+)", said).groups()
    assert digit != "1" and int(sure) > 50
    look.get_by_role("button", name="Draw one").click()
    look.get_by_role("button", name="digit 3").click()


def test_chosen_map_is_laid_over_the_image(page):
    look = panel(page, "attention")
    board = "document.querySelector('.vl-board').toDataURL()"
    before = page.evaluate(board)
    look.get_by_label("chosen map").check()
    assert page.evaluate(board) != before
    look.get_by_label("chosen map").uncheck()
    assert page.evaluate(board) == before


def test_what_is_taken_away_shows(page):
    look = panel(page, "attention")
    look.get_by_label("shuffle the positions").check()
    shown_equals_pytorchs(page, lab.with_shuffled_positions(trained()))
    measured = content_of("trained")["measured"]
    assert f"{100 * measured['shuffled']:.1f}" in look.inner_text()
    look.get_by_label("shuffle the positions").uncheck()

    look.get_by_role("button", name="block 1, head 2:").click()
    look.get_by_label("switch this head off").check()
    shown_equals_pytorchs(page, lab.without_head(trained(), 1, 2))
    assert f"{100 * measured['headOff'][1][2]:.1f}" in look.inner_text()
    assert "1 of 16 heads off" in look.inner_text()
    look.get_by_role("button", name="All heads on").click()
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused).startswith("block 1, head 2:")
    shown_equals_pytorchs(page)

    look.get_by_label("Weights").select_option("untrained")
    page.wait_for_function(
        "document.querySelector('.vl-answer').textContent.includes('nothing')"
    )
    shown_equals_pytorchs(page, lab.RECIPES[lab.MODEL].build().eval())
    look.get_by_label("Weights").select_option("trained")
    shown_equals_pytorchs(page)


def test_what_changed_is_said(page):
    look = panel(page, "attention")
    look.get_by_role("application").first.focus()
    said = look.get_by_role("status")
    said.evaluate("element => { element.textContent = ''; }")
    page.keyboard.press("ArrowDown")
    words = re.compile(r"It says \d, with \d+\s%\. Block .* inside the box")
    expect(said).to_have_text(words, timeout=PATIENCE)
    place = f"row {page.evaluate('vitLab.source.box().top')}, column"
    expect(said).to_contain_text(place, timeout=PATIENCE)


def test_cost_follows_the_sliders(page):
    cost = panel(page, "cost")
    numbers = cost.locator("dl").inner_text()
    assert "196" in numbers and "0.15 MiB" in numbers and "17.6 billion" in numbers
    patches = cost.get_by_role("slider", name="Patches")
    patches.focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    numbers = cost.locator("dl").inner_text()
    assert "50,176" in numbers and "9,604 MiB" in numbers
    assert patches.get_attribute("aria-valuetext") == "1 pixel each"
    cost.get_by_role("slider", name="Image").fill("14")
    assert "4 TiB" in cost.locator("dl").inner_text()
    cost.get_by_role("slider", name="Image").fill("0")
    assert "1,024" in cost.locator("dl").inner_text()


def test_walk_goes_through_every_step(page):
    walk = panel(page, "walk")
    titles = [walk.locator("h3").inner_text()]
    while walk.get_by_role("button", name="Next").is_enabled():
        walk.get_by_role("button", name="Next").click()
        titles.append(walk.locator("h3").inner_text())
        shape = walk.locator(".vl-shape").inner_text()
        numbers, letters = re.fullmatch(r"\((.*?)\)\s+\((.*?)\)", shape).groups()
        assert numbers.count(",") == letters.count(",")
    walk.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")  # at the end: nothing happens, and the focus stays
    assert page.evaluate("document.activeElement.textContent") == "Next"
    assert walk.locator("h3").inner_text() == titles[-1]
    assert titles[0] == "1. The image" and titles[-1].endswith("Probabilities")
    assert len(set(titles)) == len(titles) == 62
    walk.get_by_label("Walk through").fill("5")
    assert "Tokens with positions" in walk.locator("h3").inner_text()
    assert "(1, 65, 64)" in walk.locator(".vl-shape").inner_text()
    assert (
        walk.get_by_role("link")
        .get_attribute("href")
        .endswith("notebooks/03_class_token_and_position.html")
    )


def test_what_is_out_of_sight_waits(page):
    walk = panel(page, "walk")
    walk.get_by_label("Walk through").fill("0")
    drawn(page)
    page.evaluate("""() => {
        const forward = vitLab.forward;
        vitLab.forwards = 0;
        vitLab.forward = (...given) => {
            vitLab.forwards += 1;
            return forward(...given);
        };
    }""")
    picture = "document.querySelector('.vl-tensor').toDataURL()"
    page.evaluate("scrollTo(0, 0)")
    drawn(page)
    before, forwards = page.evaluate(picture), page.evaluate("vitLab.forwards")
    page.evaluate("for (const left of [0, 2, 4]) vitLab.source.move(16, left)")
    drawn(page)
    assert page.evaluate("vitLab.forwards") == forwards + 1  # once for all three
    assert page.evaluate(picture) == before
    walk.scroll_into_view_if_needed()
    drawn(page)
    assert page.evaluate(picture) != before
    assert page.evaluate("vitLab.forwards") == forwards + 2
    page.evaluate("scrollTo(0, 0)")
    drawn(page)
    assert page.evaluate("vitLab.forwards") == forwards + 2


def test_nothing_went_wrong_all_the_while(page):
    assert page.errors == []


def test_a_finger_drags_the_digit_on_a_phone(browser, site):
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto(site + PAGE)
    open_all(tab)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(wide) <= 0
    small = """[...document.querySelectorAll(".vl-panel :is(button, select, label)")]
      .filter((e) => e.offsetHeight > 0 && e.offsetHeight < 44)
      .filter((e) => e.tagName !== "LABEL" || e.parentElement.offsetHeight < 44)
      .map((e) => e.textContent)"""
    assert tab.evaluate(small) == [], "too small for a thumb"
    before, _ = shown_equals_pytorchs(tab)
    x, y = centre_of_digit(tab)
    fingers = context.new_cdp_session(tab)
    scrolled = tab.evaluate("scrollY")

    def touch(kind, *points):
        where = [{"x": x + dx, "y": y + dy} for dx, dy in points]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    touch("touchStart", (0, 0))
    for share in (0.25, 0.5, 0.75, 1.0):
        touch("touchMove", (-40 * share, 41 * share))
    touch("touchEnd")
    assert tab.evaluate("scrollY") == scrolled, "the page scrolled under the finger"
    after, _ = shown_equals_pytorchs(tab)
    assert (after["top"] - before["top"], after["left"] - before["left"]) == (4, -4)
    context.close()


def test_lab_opens_from_a_folder_and_asks_nobody(browser):
    tab, requests = browser.new_page(), []
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((ROOT / "_build" / "html" / PAGE).as_uri())
    open_all(tab)
    shown_equals_pytorchs(tab)
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests)
    tab.close()


def test_weights_that_do_not_come_are_said(browser, site):
    tab = browser.new_page()
    tab.route("**/trained.js", lambda route: route.abort())
    tab.goto(site + PAGE)
    place = panel(tab, "attention")
    place.scroll_into_view_if_needed()
    words = place.get_by_role("alert").inner_text()
    assert words.startswith("The lab could not be opened: trained.js could not be")
    tab.close()


CUT = """() => [...document.querySelectorAll(".vit-lab *")]
    .filter((e) => e.clientWidth > 1 && getComputedStyle(e).overflowX !== "visible")
    .filter((e) => e.scrollWidth > e.clientWidth)
    .map((e) => [e.tagName, e.className, e.scrollWidth, e.clientWidth])"""


WATCH_WHAT_MOVES = """window.moved = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!entry.hadRecentInput)
          moved.push([entry.value, entry.sources.map((s) => s.node?.id)]);
    }).observe({ type: "layout-shift", buffered: true });"""


def opens_in_peace(tab, address):
    """Open the lab, of which nothing that is seen may move."""
    tab.add_init_script(WATCH_WHAT_MOVES)
    tab.goto(address)
    open_all(tab)
    tab.wait_for_timeout(500)
    moved = tab.evaluate("moved")
    assert sum(value for value, _ in moved) < 0.02, moved


@in_all_fonts
def test_opening_moves_nothing_and_nothing_is_cut_or_scrolls(browser, site):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    opens_in_peace(tab, site + PAGE)
    for width in (1440, 1280, 768, 390, 360, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        drawn(tab)
        assert tab.evaluate(CUT) == [], width
        page = "document.documentElement"
        assert tab.evaluate(f"{page}.scrollWidth - {page}.clientWidth") == 0, width
    tab.close()


@in_all_fonts
def test_opening_moves_nothing_on_a_phone(browser, site):
    tab = browser.new_page(viewport={"width": 360, "height": 740})
    opens_in_peace(tab, site + PAGE)
    tab.close()


def test_reduced_motion_is_respected(browser, site):
    context = browser.new_context(reduced_motion="reduce")
    tab = context.new_page()
    tab.goto(site + PAGE)
    open_all(tab)
    moving = tab.evaluate(
        "[...document.querySelectorAll('.vit-lab *')]"
        ".filter((e) => getComputedStyle(e).transitionDuration !== '0s'"
        " || getComputedStyle(e).animationName !== 'none').map((e) => e.className)"
    )
    assert moving == []
    context.close()
