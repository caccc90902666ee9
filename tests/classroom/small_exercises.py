"""Make a small exercise set for the tests.

It has four tasks, one of them with a hidden test, and a question that a person marks.
"""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def write_source(path):
    nbformat.write(source(), path)
    return path


def source():
    cells = [
        new_markdown_cell("# Heads\n\nSplit the embedding into heads, and join it."),
        new_code_cell("import torch\n\nimport vit_check as check"),
    ]
    for name, answer in ANSWERS.items():
        cells.append(new_markdown_cell(f"## Task\n\nWrite `{name}`, with torch alone."))
        cells.append(_solution(new_code_cell(answer), name.replace("_", "-")))
        cells.append(
            _test(new_code_cell(TESTS[name]), f"test-{name.replace('_', '-')}")
        )
    answer = new_markdown_cell("They mix tokens.")
    cells += [new_markdown_cell("## Question\n\nWhat if the axes stay?"), answer]
    answer.metadata.nbgrader = _about("why", grade=True, solution=True, points=2)
    for number, cell in enumerate(cells):
        named = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.id = named or f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _about(name, **about):
    plain = {"grade": False, "solution": False, "locked": False, "schema_version": 3}
    return {**plain, "task": False, **about, "grade_id": name}


def _solution(cell, name):
    cell.metadata.nbgrader = _about(name, solution=True)
    return cell


def _test(cell, name):
    cell.metadata.nbgrader = _about(name, grade=True, locked=True, points=3)
    return cell


ANSWERS = {
    "token_count": """def token_count(size, patch_size):
    ### BEGIN SOLUTION
    return (size // patch_size) ** 2
    ### END SOLUTION""",
    "split_heads": """def split_heads(x, num_heads):
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)
    ### END SOLUTION""",
    "merge_heads": """def merge_heads(x):
    ### BEGIN SOLUTION
    B, h, T, d = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d)
    ### END SOLUTION""",
    "attend": """def attend(q, k, v, mask=None):
    ### BEGIN SOLUTION
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ v, weights
    ### END SOLUTION""",
}

TESTS = {
    "token_count": """assert token_count(224, 16) == 196
### BEGIN HIDDEN TESTS
assert token_count(32, 4) == 64, "a hidden word"
### END HIDDEN TESTS""",
    "split_heads": "check.split_heads(split_heads)",
    "merge_heads": "check.merge_heads(merge_heads)",
    "attend": "check.scaled_dot_product_attention(attend)",
}
