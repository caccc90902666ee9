"""Where an answer comes from, if it is not its author's own.

Whoever hands in the package's own function has a right answer and has not written it:
a check lets that pass, and who grades is told.
"""

import functools
import inspect
import os
from typing import Any

from torch import nn

import vit_steps

# The two packages stand beside each other or not, as they were installed.
_OF_LIBRARIES = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.dirname(os.path.abspath(vit_steps.__file__)) + os.sep,
)


def origin_of(answer: Any) -> str:
    """The name of the library's function or class that an answer is; "" if of none.

    >>> origin_of(vit_steps.MultiHeadAttention)
    'vit_steps.attention.MultiHeadAttention'

    Behind a partial, a bound method, a module or a class that changes nothing the
    library's own is found; in what somebody has written it is not looked for.
    """
    function = _function_behind(answer)
    code = getattr(function, "__code__", None)
    if code is None:  # no Python: torch.softmax, say
        owner = getattr(function, "__objclass__", function)
        module = str(getattr(owner, "__module__", None))
        known = module.partition(".")[0] == "torch"
        return f"{module}.{function.__name__}" if known else ""
    file = code.co_filename
    if "site-packages" not in file and not file.startswith(_OF_LIBRARIES):
        return ""
    name = f"{function.__globals__['__name__']}.{code.co_qualname}"
    return name.removesuffix(".__init__").removesuffix(".forward")


def _function_behind(answer: Any) -> Any:
    """What is run when an answer is called; for a module, its forward."""
    for _ in range(20):  # or for ever, where one wraps itself
        if isinstance(answer, functools.partial):
            answer = answer.func
        elif inspect.ismethod(answer):
            answer = answer.__func__
        elif inspect.isroutine(answer) and hasattr(answer, "__wrapped__"):
            answer = answer.__wrapped__
    if inspect.isroutine(answer):
        return answer
    kind = answer if isinstance(answer, type) else type(answer)
    for name in ("forward", "__call__", "__init__"):
        owner = next((base for base in kind.__mro__ if name in vars(base)), object)
        if owner not in (object, nn.Module, nn.Sequential):
            return vars(owner)[name]
    return None
