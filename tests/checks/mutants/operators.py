"""Small changes to a source: cosmic-ray's operators, and some for code with tensors."""

import ast

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.python.tree import Name

ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
BITS = ("BitOr", "BitAnd", "BitXor")
# These draw at random, or change what no answer has or no check looks at.
LEFT_OUT = ("VariableReplacer", "VariableInserter", "ExceptionReplacer")


class _InText(Operator):
    """An operator whose mutants are given as the new text of a node."""

    def texts(self, node):
        raise NotImplementedError

    def mutation_positions(self, node):
        for _ in self.texts(node):
            yield (node.start_pos, node.end_pos)

    def mutate(self, node, index):
        text = list(self.texts(node))[index]
        return Name(text, node.start_pos, prefix=node.get_first_leaf().prefix)

    @classmethod
    def examples(cls):
        return ()


def _code(node):
    return node.get_code(include_prefix=False)


def _join(nodes):
    return "".join(node.get_code() for node in nodes).strip()


class DropMethod(_InText):
    """Change ``x.transpose(1, 2)`` to ``x``."""

    def texts(self, node):
        if node.type in ("atom_expr", "power"):
            parts = node.children
            for i in range(1, len(parts) - 1):
                if _code(parts[i]).startswith(".") and _code(parts[i + 1])[0] == "(":
                    yield _join(parts[:i] + parts[i + 2 :])


class DropCall(_InText):
    """Change ``sqrt(d)`` to ``d``, ``softmax(x, dim=1)`` to ``x``."""

    def texts(self, node):
        if node.type in ("atom_expr", "power"):
            for i, part in enumerate(node.children):
                if i and part.type == "trailer" and part.children[0] == "(":
                    inside = _arguments(part)
                    if inside and inside[0].type != "argument":
                        rest = _join(node.children[i + 1 :])
                        yield f"({_code(inside[0])}){rest}"


def _arguments(trailer):
    inside = trailer.children[1:-1]
    if inside and inside[0].type == "arglist":
        inside = inside[0].children
    return [part for part in inside if part.type != "operator"]


class DropArgument(_InText):
    """Change ``mean(dim=1)`` to ``mean()``, ``f(a, b)`` to ``f(a)``."""

    def texts(self, node):
        if node.type == "trailer" and node.children[0] == "(":
            parts = _arguments(node)
            for i, part in enumerate(parts):
                if len(parts) > 1 or part.type == "argument":
                    rest = [_code(p) for p in parts[:i] + parts[i + 1 :]]
                    yield f"({', '.join(rest)})"


class SwapNeighbours(_InText):
    """Swap two neighbours in ``f(a, b)``, in ``q, k = ...`` or in ``[a, b]``."""

    KINDS = ("arglist", "testlist", "testlist_comp", "testlist_star_expr", "exprlist")

    def texts(self, node):
        if node.type in (*self.KINDS, "subscriptlist"):
            parts = node.children
            for i in range(0, len(parts) - 2, 2):
                pair = parts[i], parts[i + 2]
                if parts[i + 1] == "," and not any(_is_keyword(p) for p in pair):
                    codes = [_code(part) for part in parts]
                    codes[i], codes[i + 2] = codes[i + 2], codes[i]
                    yield " ".join(codes)


def _is_keyword(node):
    return node.type == "argument" and node.children[0].type != "operator"


class SwapOperands(_InText):
    """Change ``a - b`` to ``b - a``, ``q @ k`` to ``k @ q``."""

    def texts(self, node):
        if node.type in ("term", "arith_expr", "power"):
            codes = [_code(part) for part in node.children]
            for i in range(1, len(codes) - 1):
                if codes[i] in ("-", "/", "//", "@", "**", "%"):
                    other = list(codes)
                    other[i - 1], other[i + 1] = codes[i + 1], codes[i - 1]
                    yield " ".join(other) if codes[i] != "**" else "".join(other)


class DropOperand(_InText):
    """Change ``x + f(x)`` to ``f(x)`` and to ``x``."""

    def texts(self, node):
        if node.type in ("term", "arith_expr", "expr", "and_test", "or_test"):
            codes = [_code(part) for part in node.children]
            for i in range(0, len(codes), 2):
                rest = codes[:i] + codes[i + 2 :] if i == 0 else codes[: i - 1]
                rest = rest if i == 0 else rest + codes[i + 1 :]
                yield f"({' '.join(rest)})"


class DropStatement(_InText):
    """Change a statement to ``pass``."""

    def texts(self, node):
        if node.type == "simple_stmt":
            first = node.children[0]
            kinds = ("expr_stmt", "atom_expr", "power", "del_stmt")
            if first.type in kinds and not _code(first).startswith(('"', "'")):
                yield "pass\n"


class DropBound(_InText):
    """Change ``x[1:]`` to ``x[:]``, ``x[:, 0]`` to ``x[0]``."""

    def texts(self, node):
        if node.type == "subscript":
            for i, part in enumerate(node.children):
                if part != ":":
                    yield _join(node.children[:i] + node.children[i + 1 :])
        if node.type == "subscriptlist":
            parts = [part for part in node.children if part != ","]
            for i in range(len(parts)):
                yield ", ".join(_code(p) for p in parts[:i] + parts[i + 1 :])


class ScaleNumber(_InText):
    """Change ``1e-6`` to ten times as much and to a tenth."""

    def texts(self, node):
        if node.type == "number" and ("." in node.value or "e" in node.value.lower()):
            yield repr(10 * float(node.value))
            yield repr(float(node.value) / 10)


OWN = (
    DropMethod,
    DropCall,
    DropArgument,
    SwapNeighbours,
    SwapOperands,
    DropOperand,
    DropStatement,
    DropBound,
    ScaleNumber,
)


def operators():
    """Return all operators by name."""
    provider = OperatorProvider()
    chosen = [name for name in provider if name not in LEFT_OUT and _sensible(name)]
    return {name: provider[name] for name in chosen} | {o.__name__: o for o in OWN}


def _sensible(name):
    if not name.startswith("ReplaceBinaryOperator_"):
        return True
    _, before, after = name.split("_")
    if after == "Pow":  # a power of large whole numbers runs for hours
        return False
    return any({before, after} <= set(group) for group in (ARITHMETIC, BITS))


def mutants(source, lines=None):
    """Yield each mutant once: operator's name, the line before and after, source.

    Signatures, annotations, docstrings and refusals of wrong arguments stay; if
    ``lines`` are given, all other lines stay too. A change that gives the same code in
    another form is not a mutant.
    """
    kept = _lines_that_stay(source)
    seen = {_normal(source)}
    for name, operator in operators().items():
        tree = get_ast(source)
        positions = [
            p for n in ast_nodes(tree) for p in operator().mutation_positions(n)
        ]
        for occurrence, ((line, _), _) in enumerate(positions):
            if line in kept or (lines is not None and line not in lines):
                continue
            mutant = mutate_code(source, operator(), occurrence)
            try:
                form = _normal(mutant)
            except SyntaxError:
                continue
            if form not in seen:
                seen.add(form)
                yield name, *_changed(source, mutant), mutant


class _Normal(ast.NodeTransformer):
    """Bring equal code to one form: no strict in zip, x[i, :] as x[i], sorted axes."""

    def visit_Call(self, node):
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg != "strict"]
        if getattr(node.func, "attr", None) in ("transpose", "maximum", "minimum"):
            node.args.sort(key=ast.dump)
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        while len(parts) > 1 and ast.dump(parts[-1]) == "Slice()":
            parts = parts[:-1]
        node.slice = ast.Tuple(parts, ast.Load())
        return node


def _normal(source):
    return ast.dump(_Normal().visit(ast.parse(source)))


def _lines_that_stay(source):
    kept = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            body = node.body[0]
            kept |= set(range(first, body.lineno))
            if ast.get_docstring(node, clean=False) is not None:
                kept |= set(range(body.lineno, body.end_lineno + 1))
        elif isinstance(node, ast.Raise | ast.AnnAssign):
            kept |= set(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.Expr) and _is_refusal(node.value):
            kept |= set(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            kept |= set(range(node.lineno, node.body[-1].end_lineno + 1))
    return kept


def _is_refusal(node):
    """Return whether it is a call like ``check_count(depth, "depth")``."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id.lstrip("_").startswith("check_")


def _changed(source, mutant):
    """Return the lines that differ, before and after, whatever their layout."""
    was, becomes = (
        ast.unparse(ast.parse(text)).splitlines() for text in (source, mutant)
    )
    while was and becomes and was[0] == becomes[0]:
        was, becomes = was[1:], becomes[1:]
    while was and becomes and was[-1] == becomes[-1]:
        was, becomes = was[:-1], becomes[:-1]
    return tuple("\n".join(line.strip() for line in lines) for lines in (was, becomes))
