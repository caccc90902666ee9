"""Run a notebook cell by cell in a sandbox, whatever the cells do."""

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, is_solution
from traitlets import Any as AnyTrait

from classroom.grading import witness
from classroom.grading.door import NotEntered
from classroom.grading.kernel import SandboxedKernelManager
from classroom.grading.limits import PATIENCE
from classroom.grading.outputs import clean_output, error_output, size
from classroom.grading.passing import (
    Attempt,
    taken_from_libraries,
    why_failed,
)
from classroom.grading.result import Terms
from classroom.grading.usage import Usage
from classroom.grading.watchdog import Watchdog

NOT_RUN = "NotRun"
FAILED = "NotPassed"
LONG = 10  # seconds of delay up to which a run is fair in any case
MOMENT = 1.5  # seconds in which what a cell left running may still end the kernel


def is_autograded(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _sentence(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."


def _error_of(attempt: Attempt) -> str:
    """Return the error of a cell as a sentence for its author, "" if there is none."""
    errors = [o for o in attempt.outputs if o.output_type == "error"]
    if attempt.ended_well or not errors:
        return ""
    python = f" Python {sys.version_info[0]}.{sys.version_info[1]} runs it here."
    syntax = errors[-1].ename in ("SyntaxError", "IndentationError")
    said = f"{errors[-1].ename}: {errors[-1].evalue}".splitlines()[0]
    return f"{said}.{python * syntax}"


class SandboxedExecute(Execute):  # type: ignore[misc]
    """nbgrader's Execute, for notebooks that may do harm.

    A cell that takes too long is interrupted. A cell that ignores the interrupt, or
    that ends the kernel, loses only its own mark: a new kernel runs the cells again
    that had ended well, and leaves that one out. If an earlier cell may have been the
    cause, that cell is searched for. Afterwards the outputs of a graded cell are such
    that nbgrader gives full marks exactly if ``why_failed`` returns None for it.

    Attributes:
        judge: the process that decides whether the checks passed.
        failures: after a run, grade_id -> sentence.
        odd: after a run, the names that were found changed in the kernel.
        taken: after a run, a sentence for each answer that is a library's own.
        starts: after a run, the number of kernels that were started.
        computed: after a run, seconds of processor time of all kernels together.
        starved: after a run, whether the machine was too busy for a fair verdict.
    """

    terms = AnyTrait(Terms())
    judge = AnyTrait(None)

    record_timing = False
    store_widget_state = False
    shutdown_kernel = "immediate"
    startup_timeout = 600  # seconds; a busy machine needs long to start a kernel
    iopub_timeout = 5

    def preprocess(
        self, nb: NotebookNode, resources: Any, km: Any = None
    ) -> tuple[NotebookNode, Any]:
        self.failures: dict[str, str] = {}
        self.odd: set[str] = set()
        self.taken: list[str] = []
        self.timeout = 1  # seconds between two looks at how much it has computed
        self._left: float = self.terms.limits.total_seconds  # on the notebook's clock
        self._room_left = self.terms.limits.outputs
        self.starts = 0
        self.computed = 0.0
        self.starved = False
        self._careful = False
        self._watchdog: Any = None
        self.km: Any = None
        self.kc: Any = None
        asyncio.run(self._run(nb))
        return nb, resources

    async def _run(self, nb: NotebookNode) -> None:
        cells = [c for c in nb.cells if c.cell_type == "code" and c.source.strip()]
        done: list[NotebookNode] = []  # cells that a new kernel has to run again
        before = ""  # the error with which the answer to this task ended
        try:
            for number, cell in enumerate(cells, 1):
                graded = is_autograded(cell)
                attempt, word = await self._attempt(cell, graded, done)
                cell.outputs = attempt.outputs
                cell.execution_count = number
                if is_solution(cell):
                    before = _error_of(attempt)
                if graded:
                    self._judge(cell, attempt, word, before)
                elif attempt.trouble:
                    cell.outputs.append(error_output(NOT_RUN, attempt.trouble))
                elif attempt.ended_well:
                    done.append(cell)
        finally:
            await self._stop()

    def _judge(
        self, cell: NotebookNode, attempt: Attempt, word: str, before: str = ""
    ) -> None:
        sentence = why_failed(attempt, word, cell.source, self.judge.records)
        self.taken += taken_from_libraries(self.judge.records)
        for output in cell.outputs:
            if output.output_type == "stream":
                output.name = "stdout"  # nbgrader gives 0 for any line on stderr
        if sentence is None:
            cell.outputs = [o for o in cell.outputs if o.output_type != "error"]
        else:
            if before:
                sentence = sentence.rstrip(".")
                sentence += f". The cell with the answer had ended with {before}"
            self.failures[cell.metadata.nbgrader["grade_id"]] = sentence
            cell.outputs.append(error_output(FAILED, sentence))

    async def _attempt(
        self, cell: NotebookNode, graded: bool, done: list[NotebookNode]
    ) -> tuple[Attempt, str]:
        """Run one cell; return the attempt and the word that a graded cell has to send.

        If the kernel ends during the cell, an earlier cell may be the cause. So a cell
        that is worth marks is run once more, in a kernel without any cell that ends it.
        """
        for _ in range(2 if graded or is_solution(cell) else 1):
            word = witness.Word()
            trouble = await self._ready(graded, done)
            if trouble:
                return Attempt(trouble=trouble), word.word
            if graded:
                self.judge.clear()
                attempt = await self._execute(word.at_the_end_of(cell.source))
            else:
                attempt = await self._execute(cell.source)
            if self.kc is not None or self._timed_out:
                break
            self._careful = True
        return attempt, word.word

    async def _ready(self, graded: bool, done: list[NotebookNode]) -> str | None:
        """Make sure that a kernel is alive in which the earlier good cells have run.

        Return None, or the reason why there is no such kernel.
        """
        while self._seconds_left > 0:
            if self.kc is None and not await self._start(done):
                return "The kernel died too often to run this cell."
            if graded:
                seen = await self._execute(witness.look(self._usual))
                self.odd.update(set(witness.found(seen.words)) - set(self._usual))
            elif not await self.km.is_alive():
                await self._stop()
            if self.kc is not None:
                return None
            self._careful = True
        return "The notebook's time was up before this cell."

    async def _start(self, done: list[NotebookNode]) -> bool:
        """Start a new kernel and run the cells in it that had ended well."""
        while self.starts <= self.terms.limits.restarts:
            self.starts += 1
            judge = Path(self.judge.path)
            self.km = SandboxedKernelManager(terms=self.terms, judge=judge)
            try:
                await self.async_start_new_kernel()
                sandbox, limits = self.terms.sandbox, self.terms.limits
                usage = Usage(self.km.pid, sandbox, limits)
                self._watchdog = Watchdog(usage, limits, self._left)
                self._watchdog.start()
                await self.async_start_new_kernel_client()
            except Exception as error:  # nothing of the student's has run
                self.log.warning("no kernel: %r", error)
                if isinstance(error, NotEntered):  # the next one is started by itself
                    self.terms = replace(self.terms, prepared=None)
                else:  # the machine is full
                    self.starved = True
                await self._stop()
                continue
            first = await self._execute(witness.look())
            self._usual = witness.found(first.words)
            for cell in list(done):
                if self.kc is not None and self._seconds_left > 0:
                    await self._execute(cell.source)
                    if self._careful:
                        await self._linger()
                    if self.kc is None:
                        done.remove(cell)
            if self.kc is not None:
                return True
        return False

    async def _linger(self) -> None:
        """Wait a moment after a cell, to notice a kernel that ends late."""
        until = time.monotonic() + MOMENT
        while self.kc is not None and time.monotonic() < until:
            await asyncio.sleep(0.1)
            if not await self.km.is_alive():
                await self._stop()

    @property
    def _seconds_left(self) -> float:
        return self._left - (self._watchdog.usage.clock if self._watchdog else 0.0)

    async def _execute(self, source: str) -> Attempt:
        """Run one cell, and end the kernel if the cell does not end."""
        self._current = attempt = Attempt()
        self._room = min(self.terms.limits.output, self._room_left)
        self._timed_out = self._idle = False
        scratch = new_code_cell(source)
        self.nb = new_notebook(cells=[scratch])
        watchdog, usage = self._watchdog, self._watchdog.usage
        self._began = usage.clock, usage.computed, usage.waited
        self._allowed = min(self.terms.limits.cell_seconds, self._seconds_left)
        room = self._room
        try:
            await self.async_execute_cell(scratch, 0)
        except Exception as error:
            await self._stop()
            reason = watchdog.reason
            if self._timed_out:
                attempt.trouble = self._too_long(usage)
            elif reason:
                attempt.trouble = _sentence(reason)
            else:
                attempt.trouble = "The cell ended the kernel."
            self.log.info("the kernel is gone: %r", error)
        else:
            excess = watchdog.look()  # now, or a later cell would be blamed for it
            if excess:
                await self._stop()
                attempt.trouble = _sentence(excess)
            elif self._timed_out:
                attempt.trouble = self._too_long(usage)
            elif not self._idle:  # some of its messages may have arrived too late
                self.starved = True
        self._room_left -= room - max(0, self._room)
        if self._room <= 0:
            cut = f"\n... cut: more than {room:,} characters of output\n"
            attempt.outputs.append(new_output("stream", name="stdout", text=cut))
        attempt.ended_well = attempt.ended_well and attempt.trouble is None
        return attempt

    def _too_long(self, usage: Usage) -> str:
        _, computed, waited = self._began
        return (
            "The cell was stopped: it had not ended after "
            f"{usage.computed - computed:.0f} seconds of computing and "
            f"{usage.waited - waited:.0f} of waiting."
        )

    async def _stop(self) -> None:
        watchdog, self._watchdog = self._watchdog, None
        if watchdog is not None:
            watchdog.stop()
            usage = watchdog.usage
            self._left -= usage.clock
            self.computed += usage.computed
            self.starved |= usage.delayed > max(LONG, 2 * usage.computed)
        km, kc, self.kc = self.km, self.kc, None
        if km is None:
            return
        self.km = None
        try:
            if km.has_kernel:
                await km.shutdown_kernel(now=True)
        finally:
            await km.cleanup_resources()
            if kc is not None:
                kc.stop_channels()

    async def _async_cleanup_kernel(self) -> None:
        await self._stop()

    async def _async_handle_timeout(self, timeout: int, cell: Any = None) -> Any:
        """Interrupt the cell if its time is up; nbclient calls this each second.

        It then returns the reply that the kernel itself would have sent. A kernel that
        is not idle soon after the interrupt is ended.
        """
        usage = self._watchdog.usage
        clock, computed, waited = self._began
        if usage.clock - clock < self._allowed:
            await asyncio.sleep(0.05)
            return None
        self._timed_out = True
        own = usage.computed - computed + (usage.waited - waited) / PATIENCE
        # The rest of the time on its clock passed while it waited for a processor.
        self.starved |= own < self._allowed
        request = self.kc.session.msg("interrupt_request", {})
        self.kc.control_channel.send(request)
        return {"content": {**self.error_on_timeout, "status": "error"}}

    def on_cell_executed(self, **kwargs: Any) -> None:
        content = kwargs["execute_reply"]["content"]
        self._current.ended_well = content["status"] == "ok"

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> None:
        """Keep harmless output up to the limit, and collect the witness's words."""
        kind, content = msg["msg_type"], msg["content"]
        if kind == "status":
            self._idle |= content.get("execution_state") == "idle"
            super().process_message(msg, cell, cell_index)
            return
        data = content.get("data")
        if kind == "display_data" and isinstance(data, dict) and witness.MIME in data:
            self._current.words.append(str(data[witness.MIME])[:2000])
        elif kind == "clear_output":
            self._current.outputs.clear()
        elif self._room > 0:
            output = clean_output(kind, content, self._room)
            if output is not None:
                self._room -= size(output) + 100
                self._keep(output)

    def _keep(self, output: NotebookNode) -> None:
        kept = self._current.outputs
        both = [output, *kept[-1:]]
        if len(both) == 2 and all(o.output_type == "stream" for o in both):
            if both[0].name == both[1].name:
                kept[-1].text += output.text
                return
        kept.append(output)
