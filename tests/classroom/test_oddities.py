"""Test that code which a teacher should look at is found, and ordinary code is not."""

import ast
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom.grading.copies import own_work
from classroom.grading.oddities import odd_source
from classroom.grading.origins import look
from classroom.release.release import SOURCES


def cell(source, name="", **about):
    """Return a cell, with nbgrader's metadata if it has a name."""
    made = new_code_cell(source)
    if name:
        plain = {"grade": False, "solution": False}
        made.metadata.nbgrader = {**plain, **about, "grade_id": name}
    return made


def source():
    """Return two tasks, of which the second may use what the first has to define."""
    return new_notebook(
        cells=[
            cell(
                "import torch\nimport vit_check as check\nimport vit_steps\n"
                "from vit_steps import MultiHeadAttention, data, token_count\n\n"
                "layer = MultiHeadAttention(8, 2)\ntokens = token_count(32, 4)"
            ),
            cell("def patchify(images):\n    ...", "patchify", solution=True),
            cell("check.patchify(patchify)", "test-patchify", grade=True),
            cell("class OwnAttention:\n    ...", "own", solution=True),
            cell("check.multi_head_attention(OwnAttention)", "test-own", grade=True),
            cell(
                "losses = [MultiHeadAttention(8, h).loss for h in (1, 2)]",
                "losses",
                solution=True,
            ),
            cell("check.answer('losses', losses)", "test-losses", grade=True),
        ]
    )


def oddities_of(*helpers, **solutions):
    """Return what is found with these solutions, and with these cells at the end."""
    nb = source()
    for one in nb.cells:
        name = one.metadata.get("nbgrader", {}).get("grade_id")
        one.source = solutions.get(name, one.source)
    nb.cells += [cell(helper) for helper in helpers]
    return [sentence.removeprefix("Cell ") for sentence in odd_source(nb, source())]


def sources():
    return sorted(SOURCES.glob("*.ipynb"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_honest_solutions_are_not_reported(path):
    theirs = nbformat.read(path, as_version=4)
    nb = nbformat.read(path, as_version=4)
    for one in nb.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = re.sub("### (BEGIN|END) SOLUTION", "# mine", one.source)
            one.source += "\n\n# done"
    assert odd_source(nb, theirs) == []


def test_what_the_set_imports_may_be_imported_as_it_does():
    theirs, nb = source(), source()
    for one in (theirs, nb):
        one.cells[0].source += "\nfrom vit_steps import patchify"
    nb.cells[0].source += "\nfrom vit_steps import patchify, MultiHeadAttention"
    assert odd_source(nb, theirs) == []
    nb.cells.append(cell("from vit_steps import patchify"))
    assert odd_source(nb, theirs) == [
        "Cell 8 makes patchify of patchify from vit_steps."
    ]


@pytest.mark.parametrize(
    "helpers",
    [
        ["from vit_steps import patchify"],
        ["from vit_steps.patch_embedding import patchify as mine"],
        ["import vit_steps\nvit_steps.patchify(x)"],
        ["import vit_steps as v", "mine = v.patchify"],
        ["from vit_steps import patch_embedding as pe", "pe.patchify(x)"],
        ["import vit_steps.patch_embedding as pe\npe.patchify(x)"],
        ["import vit_steps", "pe = vit_steps.patch_embedding", "f = pe.patchify"],
        ["a, pe = 1, vit_steps.patch_embedding", "pe.patchify(x)"],
        ["for pe in (vit_steps.patch_embedding,):\n    pe.patchify(x)"],
        ["with vit_steps.patch_embedding as pe:\n    pe.patchify(x)"],
        ["(pe := vit_steps.patch_embedding)", "pe.patchify(x)"],
        ["def f(v=vit_steps.patchify):\n    return v"],
        ["getattr(vit_steps, 'patchify')"],
        ["g = getattr", "g(vit_steps.patch_embedding, 'patchify')"],
        ["match vit_steps:\n    case pe:\n        pe.patchify(x)"],
        ["some = [vit_steps]\nsome[0].patchify(x)"],
        ["%time x = vit_steps.patchify(x)"],
        ["%%timeit -n 1\nx = vit_steps.patchify(x)"],
        ["if True:\n    try:\n        vit_steps.patchify\n    except E:\n        pass"],
        ["def f():\n    v = vit_steps\n    return v.patchify"],
        ["def f(v=vit_steps):\n    return v.patchify"],
        ["f = lambda x, *, v=vit_steps: v.patchify(x)"],
        ["[v.patchify(x) for v in (vit_steps,)]"],
        ["class A:\n    v, w = vit_steps.patchify, 1"],
        ["def lib():\n    return vit_steps", "lib().patchify(x)"],
        ["p = getattr(vit_steps.patch_embedding, 'patchify').__name__"],
    ],
)
def test_taking_an_answer_from_the_package_is_reported(helpers):
    sentence = "takes patchify from vit_steps instead of writing it."
    assert oddities_of(*helpers) == [f"{7 + len(helpers)} {sentence}"]


def test_a_star_import_is_reported():
    assert oddities_of("from vit_steps import *") == [
        "8 takes everything from vit_steps."
    ]


@pytest.mark.parametrize(
    "solution",
    [
        "OwnAttention = MultiHeadAttention",
        "class OwnAttention(MultiHeadAttention):\n    pass",
        "OwnAttention = lambda *sizes: MultiHeadAttention(*sizes)",
        "OwnAttention, other = MultiHeadAttention, 1",
        "def OwnAttention(*sizes, kind=MultiHeadAttention):\n    return kind(*sizes)",
        "class OwnAttention:\n    forward = vit_steps.MultiHeadAttention.forward",
        "def OwnAttention(d, f=lambda MultiHeadAttention: 0):\n"
        "    [0 for MultiHeadAttention in ()]\n    return MultiHeadAttention(d, 2)",
        "class OwnAttention:\n    MultiHeadAttention = MultiHeadAttention",
        "def OwnAttention(d, h):\n    from vit_steps import MultiHeadAttention as A\n"
        "    return A(d, h)",
    ],
)
def test_a_name_allowed_in_another_task_is_reported(solution):
    assert oddities_of(own=solution) == [
        "4 takes MultiHeadAttention from vit_steps instead of writing it."
    ]


@pytest.mark.parametrize(
    "helper, solution",
    [
        ("A = MultiHeadAttention", "OwnAttention = A"),
        ("A = MultiHeadAttention\nB = [A]\n(c, *_), d = B, 1", "OwnAttention = c"),
        ("def make(*s):\n    return MultiHeadAttention(*s)", "OwnAttention = make"),
        ("import functools\nA = functools.partial(MultiHeadAttention, 8)",
         "def OwnAttention(d, h):\n    return A(h)"),
        ("one = MultiHeadAttention(8, 2)",
         "class OwnAttention:\n    def forward(self, x):\n        return one(x)"),
        ("one = MultiHeadAttention(8, 2)\nother = one",
         "class OwnAttention:\n    def forward(self, x):\n        return other(x)"),
        ("some = {}\nsome['a'] = MultiHeadAttention(8, 2)",
         "class OwnAttention:\n    def forward(self, x):\n        return some['a'](x)"),
        ("if True:\n    for A in {1: MultiHeadAttention}.values():\n        pass",
         "OwnAttention = A"),
    ],
)  # fmt: skip
def test_an_alias_is_followed_into_the_solution(helper, solution):
    """This holds whether the alias is defined before the solution or after it."""
    nb = source()
    nb.cells[3].source = solution
    nb.cells.insert(3, cell(helper))
    assert odd_source(nb, source()) == [
        "Cell 5 takes MultiHeadAttention from vit_steps instead of writing it."
    ]


def test_an_alias_that_is_made_later_is_followed_into_a_function():
    solution = "def OwnAttention(*sizes):\n    return A(*sizes)"
    assert oddities_of("A = MultiHeadAttention", own=solution) == [
        "4 takes MultiHeadAttention from vit_steps instead of writing it."
    ]


@pytest.mark.parametrize(
    "helper, target",
    [
        ("OwnAttention = MultiHeadAttention", "OwnAttention"),
        ("A = MultiHeadAttention\nOwnAttention = A", "OwnAttention"),
        ("for OwnAttention in [MultiHeadAttention]:\n    pass", "OwnAttention"),
        ("def f():\n    global OwnAttention\n    OwnAttention = MultiHeadAttention",
         "OwnAttention"),
        ("from vit_steps import MultiHeadAttention as OwnAttention", "OwnAttention"),
        ("OwnAttention.forward = MultiHeadAttention.forward", "OwnAttention.forward"),
        ("OwnAttention.forward = layer.forward", "OwnAttention.forward"),
        ("O = OwnAttention\nO.forward = MultiHeadAttention.forward", "O.forward"),
        ("def f():\n    OwnAttention.forward = MultiHeadAttention.forward",
         "OwnAttention.forward"),
    ],
)  # fmt: skip
def test_an_answer_made_outside_its_cell_is_reported(helper, target):
    assert oddities_of(helper)[:1] == [
        f"8 makes {target} of MultiHeadAttention from vit_steps."
    ]


@pytest.mark.parametrize(
    "helper, words",
    [
        ("from timm.models import vision_transformer", "uses timm, which this"),
        ("import timm\ntimm.create_model('vit')", "uses timm, which this exercise"),
        ("import torchvision as t\nt.models.vit_b_16()", "uses torchvision.models,"),
        ("from transformers import ViTModel as V", "uses transformers, which this"),
        ("print(vit_steps.model_cost)", "uses model_cost from vit_steps, which this"),
        ("import vit_doctor\nvit_doctor.examine(m)", "uses examine from vit_doctor"),
        ("f(vit_steps)", "hands all of vit_steps to f"),
        ("next(iter([vit_steps])).patchify", "hands all of vit_steps to iter"),
        ("class A:\n    v = vit_steps", "hands all of vit_steps to A.v"),
        ("def f(self):\n    self.v = vit_steps", "hands all of vit_steps to self.v"),
        ("some[0].v = vit_steps", "hands all of vit_steps to some[…].v"),
        ("getattr(vit_steps, name)", "takes everything from vit_steps"),
    ],
)
def test_names_that_the_set_does_without_are_reported(helper, words):
    assert any(words in sentence for sentence in oddities_of(helper))


@pytest.mark.parametrize(
    "source",
    [
        "check = None",
        "_, check = 1, 2",
        "def check(): pass",
        "import mine as check",
        "from mine import check",
        "check.patchify = print",
        "c.patchify = print",
        "del c.patchify",
        "setattr(c, name, print)",
        "setattr(check, name, print)",
        "def f():\n    check.patchify = print",
        "def f():\n    global check\n    check = print",
        "for check.patchify in (print,):\n    pass",
    ],
)
def test_changing_the_checks_is_reported(source):
    assert oddities_of("import vit_check as c", source) == ["9 changes the checks."]


@pytest.mark.parametrize(
    "helper",
    [
        "from vit_check import QUESTIONS",
        "from vit_check import *",
        "from vit_check.engine import asking",
        "import vit_check.judge",
        "from vit_check.chapters.questions import QUESTIONS as Q",
        "c = check",
        "a, b = check, 1",
        "for c in (check,):\n    pass",
        "(c := check)",
        "with check as c:\n    pass",
        "def f(c=check):\n    return c.engine",
        "f = lambda c=check: c.engine",
        "check.reference",
        "x = check.patchify.expected()",
        "check.QUESTIONS['tokens'].expected()",
        "m = check.multi_head_attention\nm.record = print",
        "getattr(check, 'engine')",
        "getattr(check, 'eng' + 'ine')",
        "[getattr(check, name) for name in dir(check)]",
        "vars(check)['engine']",
        "check.__dict__['engine']",
        "globals()['check'].engine",
        "{'c': check}['c'].engine",
        "print(check)",
        "import vit_check\nvit_check.engine.check.ask",
        "eval('check.engine')",
        "exec('from vit_check.engine import check as c')",
        "%time check.engine.check.ask",
        "try:\n    check.engine\nexcept Exception:\n    pass",
        "class A:\n    check = check",
        "def f():\n    import vit_check.judge as j\n    return j",
    ],
)
def test_reaching_into_the_checks_is_reported(helper):
    assert any("reaches into the checks" in said for said in oddities_of(helper))


@pytest.mark.parametrize(
    "helper, name",
    [
        ("import sys\nsys.modules['vit_check']", "sys.modules"),
        ("from sys import modules as m\nm['vit' + '_check']", "sys.modules"),
        ("torch.sys.modules", "sys.modules"),
        ("__import__('vit_' + 'check')", "__import__"),
        ("import pydoc\npydoc.locate('vit_' + 'steps')", "pydoc"),
        ("i = __import__\ni('vit_check')", "__import__"),
        ("import importlib\nimportlib.import_module(n)", "importlib"),
        ("from importlib import import_module as i", "importlib"),
        ("globals()['che' + 'ck']", "globals"),
        ("spy == globals()", "globals"),
        ("eval(''.join(parts))", "eval"),
        ("import __main__", "__main__"),
        ("__builtins__['eval']('x')", "__builtins__"),
        ("layer.forward.__globals__", "__globals__"),
        ("getattr(layer, '__globals__')", "__globals__"),
        ("get_ipython().user_ns", "get_ipython"),
        ("!ls", "get_ipython"),
        ("from os import system as s", "os.system"),
        ("%%bash\nls", "the magic bash"),
        ("x = 'vit_check.engine'", "names vit_check.engine in a string"),
        ("x = f'vit_steps.{name}' 'vit_steps.attention'", "names vit_steps.attention"),
    ],
)
def test_ways_around_the_checks_are_reported(helper, name):
    assert any(name in said for said in oddities_of(helper))


def test_ordinary_work_is_not_reported():
    assert not oddities_of(
        "import torch\nimport vit_check as check\nimport vit_steps",
        "from vit_steps import MultiHeadAttention, token_count",
        "from vit_check import patchify as p\np(patchify)",
        "from vit_steps import data, notebook\nprint(vit_steps.__version__)\n"
        "notebook.show(data.digits(1), title='vit_steps.patchify and mine')",
        "if 'model' not in globals():\n    model = 1",
        "%load_ext autoreload\n%autoreload 2",
        "check.patchify(patchify)\ncheck.patchify(patchify, hint=1)\nhelp(check.mlp)",
        "try:\n    check.mlp(patchify)\nexcept check.CheckFailed as e:\n    print(e)",
        "model = vit_steps.MultiHeadAttention(8, 2)\nmodel.scale = 1.0",
        "mine, theirs = OwnAttention(8, 2), MultiHeadAttention(8, 2)\n"
        "mine.load_state_dict(theirs.state_dict())\nprint(mine(x) - theirs(x))",
        "patchify.mine = patchify\nopened = [f(data) for data in images]",
        "def accuracy(data, check=True):\n    return data.shape, check",
        "class Shower:\n    def show(self):\n        from vit_steps import data\n"
        "        return data.digits(1)",
        "class Runner:\n    check = False\n    def run(self, layer):\n        layer(1)",
        "%matplotlib inline\n%time patchify(x)\nmodel.eval()\ntorch.compile(model)",
        "'''Compare with vit_steps.attention.'''\nre.compile('x')",
        own="class OwnAttention:\n    '''Like vit_steps.attention.'''\n"
        "    def forward(self, x):\n        layer = tokens = x\n        return layer",
        losses="losses = [0, 1]\nfor heads in (1, 2):\n"
        "    made = MultiHeadAttention(8, heads)\n    losses[heads] = made(x).mean()",
    )


@pytest.mark.parametrize(
    "helper",
    [
        "!true\n" * 600,
        "x = (" + "-" * 2900 + "1)",
        "-" * 5000 + "1",
        "x" + ".a" * 5000,
        "1" + "+1" * 5000,
        "f(1)" + "(1)" * 3000,
        "x = 1\n" * 60_000,
        "%matplotlib inline\n" + "x = 1\n" * 30_000,
        f"import os\nx = [{', '.join(f'os.a{n}' for n in range(1000))}]\n"
        + "y = x, x\n" * 1000,
        "import " + "os." * 1000 + "os",
        "%time " * 60 + "x",
    ],
)
def test_code_that_is_too_complex_is_reported_and_the_rest_checked(helper):
    found = oddities_of("from vit_steps import patchify", helper)
    assert found == [
        "8 takes patchify from vit_steps instead of writing it.",
        "9 is too long or too complex to be checked.",
    ]
    notebook = new_notebook(cells=[new_code_cell(helper)])
    assert own_work(notebook, source())[1] == ""


@pytest.mark.parametrize(
    "helper",
    [
        "\n" * 250_000 + "(",
        "x = f" + "()" * 20,
        "import os\nx = os" + ".path" * 200,
        "import os as y0\n" + "".join(f"y{n + 1} = y{n}.p\n" for n in range(2000)),
        "".join(f"x{n} = {n}\n" for n in range(20_000)),
    ],
)
def test_long_or_deep_code_is_checked(helper):
    assert oddities_of(helper) == []
    notebook = new_notebook(cells=[new_code_cell(helper)])
    assert own_work(notebook, source())[1] == ""


def test_names_of_names_do_not_grow():
    long = "a" * 5000
    text = f"import {long} as y0\n"
    text += "".join(f"y{n + 1} = y{n}.{long}\n" for n in range(20))
    (seen,) = look([(ast.parse(text), True)])
    assert max(len(use.origin.path) for use in seen.uses) <= 200
