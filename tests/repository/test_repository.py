"""Test that several files state the same version, address and licences."""

import re
import subprocess
import tomllib

import pytest
import yaml

import vit_steps
from book._extensions.repository import Repository
from book.address import rewritten, with_branch
from book.address import tracked as tracked_texts
from tests.conftest import CHAPTERS, ROOT, code_cells, read, tags
from vit_steps import optional
from vit_steps.checkpoint import shipped_models


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))
REPOSITORY = Repository.of(ROOT)
ADDRESS = REPOSITORY.url
OF_A_TEACHER = "your-name/your-course"  # in links that a reader fills in


@pytest.fixture(scope="module")
def texts():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return tracked_texts(ROOT)


COUNTED_FROM_1 = re.compile(
    r"enumerate\([^()\n]*blocks?\b[^()\n]*, (?:start=)?1\)"  # over the blocks
    r"|\bblocks? \$?\{\w+ \+ 1\}"  # in a label
    r"|\bblocks? (?:\d+(?:, \d+)* (?:to|and) )?12\b",  # of twelve
    re.IGNORECASE,
)


def test_blocks_are_counted_from_0(texts):
    picture = re.compile(r'"image/png": "[^"]*"')
    named = (
        path for path in texts if COUNTED_FROM_1.search(picture.sub("", texts[path]))
    )
    assert list(named) == [], "block 0 is the first, as in blocks[0]"


def test_the_address_is_the_same_everywhere(texts):
    assert list(rewritten(ROOT)) == [], "run make address"
    assert PROJECT["project"]["urls"]["Repository"] == ADDRESS
    assert optional.REPOSITORY == f"git+{ADDRESS}"
    assert f"git+{ADDRESS}" in code_cells(CHAPTERS[0])[0].source
    assert ADDRESS in text("CITATION.cff")
    for name in ("README.md", "book/intro.md"):
        assert f"git clone {ADDRESS}" in text(name)
    assert text("README.md").index(REPOSITORY.pages) < text("README.md").index("clone")


def test_no_other_address_is_named(texts):
    """All that is installed, cloned or opened is in the repository of this project."""
    sites = ["git+https://github.com", "git clone https://github.com", "/gh", "/github"]
    sites += ["src=https://github.com", "repo=https%3A%2F%2Fgithub.com"]
    here = "|".join(map(re.escape, sites))
    link = re.compile(rf"({here}|github\.com)(/|%2F)([\w.-]+)\2(\w+(?:[.-]\w+)*)")
    picture = re.compile(r'"image/png": "[^"]*"')  # base64 may spell anything
    for path, content in texts.items():
        if path.endswith("package-lock.json"):
            continue  # names who may be paid for a package
        for site, _, owner, name in link.findall(picture.sub("", content)):
            if site != "github.com" or re.search("vit[_-]steps", owner + name, re.I):
                found = f"{owner}/{name.removesuffix('.git')}"
                if path == "book/classroom.md" and found == OF_A_TEACHER:
                    continue
                assert found == REPOSITORY.owner_and_name, f"{path} names {found}"


def test_a_fork_changes_one_line_and_runs_one_command(texts, tmp_path):
    fork = Repository("https://github.com/a-teacher/a-course", "spring")
    settings = texts["_config.yml"].replace(ADDRESS, fork.url)
    settings = settings.replace(f"branch: {REPOSITORY.branch}", "branch: spring")
    for path, content in {**texts, "_config.yml": settings}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content.encode("utf-8"))
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for path, content in rewritten(tmp_path).items():
        (tmp_path / path).write_bytes(content.encode("utf-8"))
    assert rewritten(tmp_path) == {}
    owner, name = REPOSITORY.owner_and_name.split("/")
    trace = re.compile(
        rf"{owner}(/|%2F){name}|{owner}\.github\.io|cd {name}\b|/{name}/"
    )
    for path, content in tracked_texts(tmp_path).items():
        assert not re.search(trace, content), path
        assert with_branch(content, fork) == content, path
    first = read(tmp_path / "notebooks" / CHAPTERS[0].name).cells[:3]
    assert f"github/a-teacher/a-course/blob/spring/notebooks/{CHAPTERS[0].name}" in (
        first[1].source
    )
    assert f"git+{fork.url}" in first[2].source


def test_each_notebook_has_badges_below_its_title_that_open_it(texts):
    for path in texts:
        if not path.endswith(".ipynb"):
            continue
        cell = read(ROOT / path).cells[1]
        opened = path.replace("classroom/source/", "notebooks/exercises/")
        links = re.findall(r"\[!\[(.+?)\]\(https://\S+?\)\]\((\S+?)\)", cell.source)
        assert [alt for alt, _ in links] == [
            f"Open in {site}" for site in ("Colab", "Kaggle", "Binder")
        ], path
        assert all(address.endswith(f"/{opened}") for _, address in links), path
        assert tags(cell) == ["remove-cell"], "the book has buttons"


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == vit_steps.__version__
    book = tomllib.loads(text("book/distribution/pyproject.toml"))["project"]
    assert book["version"] == vit_steps.__version__
    assert book["requires-python"] == PROJECT["project"]["requires-python"]
    latest = re.search(r"^## \[[\d.]+\].*$", text("CHANGELOG.md"), re.MULTILINE)[0]
    assert latest == f"## [{vit_steps.__version__}] - {citation['date-released']}"


def test_the_readme_is_short_and_counts_the_models_that_ship():
    readme = text("README.md")
    assert len(readme.split()) <= 700
    words = {3: "three", 4: "four", 5: "five"}
    assert f"one of the {words[len(shipped_models())]} trained models" in readme
    page = text("book/package/in_use.md")
    for name in shipped_models() + shipped_models("VariantVisionTransformer"):
        assert f"`{name}`" in page


def test_licences():
    assert text("LICENSE").startswith("MIT License")
    assert "Attribution 4.0 International" in text("LICENSE-TEXT")
    places = re.findall(r"\b(?:book|vit_steps)/[\w/.]*\w", text("LICENSE-TEXT"))
    assert "book/_assets/fonts" in places
    assert not [place for place in places if not (ROOT / place).exists()]
    for package in ("vit_steps", "vit_doctor"):
        assert (ROOT / package / "py.typed").exists()


def test_every_requirement_is_pinned():
    pinned = text("constraints.txt") + text("requirements.txt")
    for line in text("requirements.txt").splitlines():
        name = line.split("#")[0].strip()
        if name:
            bare = re.split("[=<>]", name)[0]
            assert re.search(rf"^{re.escape(bare)}==", pinned, re.M | re.I), name


def test_constraints_agree_with_requirements():
    wanted = dict(re.findall(r"^([\w.-]+)==(\S+)", text("requirements.txt"), re.M))
    for name, version in re.findall(
        r"^([\w.-]+)==(\S+)", text("constraints.txt"), re.M
    ):
        assert wanted.get(name, version) == version


def test_nothing_of_cuda_is_asked_for():
    assert not re.search("nvidia|cuda|triton", text("constraints.txt"), re.I)


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines()]


def test_nothing_built_is_committed():
    for path in tracked():
        relative = path.relative_to(ROOT).as_posix()
        assert not relative.startswith(("_build/", ".venv/"))
        assert path.name != ".DS_Store" and path.suffix != ".pyc"


def test_no_file_is_heavy():
    for path in tracked():
        limit = 3_200_000 if path.name == "fashion-mnist-7000.npz" else 1_500_000
        assert not path.exists() or path.stat().st_size < limit, path
