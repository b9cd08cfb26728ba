"""The record of a training run: columns of numbers that stay short however long the run is."""

from __future__ import annotations

import math
from typing import Any

from ..display.charts import Series, format_count, format_number, line_chart

__all__ = ["TrainingLog"]

MOST_POINTS = 600


class TrainingLog:
    """Named numbers by step. When there are more than `most` points, neighbours are averaged in pairs.

    Averages skip what was not logged; NaN and infinity stay what they are, so that a run that blew up shows it.
    """

    def __init__(self, most: int = MOST_POINTS):
        self.most = most
        self.steps: list[int] = []
        self.series: dict[str, list[float | None]] = {}
        self.latest: dict[str, float] = {}
        self.first_step: int | None = None
        self.last_step: int | None = None
        self.stride = 1
        self._pending: list[tuple[int, dict[str, float]]] = []

    def add(self, step: int | None, values: dict[str, Any]) -> int:
        """Note the values of a step (the one after the last when None) and return its number.

        Raises:
            TypeError: a value is not a number or a tensor with one element; the text names it.
        """
        if step is None:
            step = 0 if self.last_step is None else self.last_step + 1
        numbers = {name: _as_number(name, value) for name, value in values.items()}
        self.latest.update(numbers)
        self.last_step = int(step)
        if self.first_step is None:
            self.first_step = self.last_step
        self._pending.append((self.last_step, numbers))
        if len(self._pending) >= self.stride:
            self._keep()
            if len(self.steps) > self.most:
                self._halve()
        return self.last_step

    @property
    def done(self) -> int:
        """Steps done: one more than the last step's number when the first was 0, else that number."""
        return 0 if self.last_step is None else self.last_step + (self.first_step == 0)

    def columns(self) -> tuple[list[int], dict[str, list[float | None]]]:
        """Steps and series with the latest values at the end, each series as long as the steps."""
        steps, series = list(self.steps), {name: list(column) for name, column in self.series.items()}
        if self._pending:
            step, values = _averaged(self._pending)
            _append(steps, series, step, values)
        return steps, series

    def points(self) -> dict[str, Any]:
        """The trait `points` of the view: six digits, non-finite numbers as words (`display/schema.py`)."""
        steps, series = self.columns()
        return {"step": steps, "series": {name: [_wire(value) for value in column] for name, column in series.items()}}

    def svg(self, title: str = "Training", state: str = "") -> str:
        """The first series (the loss) over steps as a static SVG, the others' latest values below."""
        steps, series = self.columns()
        main = next(iter(series), None)
        lines = [Series(main, steps, series[main])] if main else []
        positive = [y for y in series[main] if y is not None and math.isfinite(y)] if main else []
        log_y = bool(positive) and min(positive) > 0 and max(positive) / min(positive) > 100
        said = self.numbers_text()
        return line_chart(
            lines,
            title=title,
            description=f"{main or 'Nothing'} over {len(steps)} points. {state} {said}".strip(),
            x_label="step",
            y_label=f"{main} (log)" if log_y else main or "",
            log_y=log_y,
            y_from_zero=not log_y and bool(positive) and min(positive) >= 0,
            footer=[line for line in (state, said) if line],
            height=300,
        )

    def numbers_text(self) -> str:
        """The latest values: "loss 0.4321 · lr 0.01000"."""
        return " · ".join(f"{name} {format_number(value)}" for name, value in self.latest.items())

    def _keep(self) -> None:
        step, values = _averaged(self._pending)
        self._pending = []
        _append(self.steps, self.series, step, values)

    def _halve(self) -> None:
        pairs = range(0, len(self.steps), 2)
        for name, column in self.series.items():
            self.series[name] = [_mean([v for v in column[i : i + 2] if v is not None]) for i in pairs]
        self.steps = [self.steps[min(i + 1, len(self.steps) - 1)] for i in pairs]
        self.stride *= 2


def progress_text(done: int, total: int | None, per_second: float | None, state: str) -> str:
    """One line: "step 120 of 500 · 83.20 steps/s · 4.6 s left", or with what ended the run."""
    if not done:
        return state or "no step yet"
    text = f"step {format_count(done)}" + (f" of {format_count(total)}" if total and done <= total else "")
    if per_second:
        text += f" · {format_number(per_second)} steps/s"
        if total and not state and done < total:
            text += f" · {time_left((total - done) / per_second)} left"
    return f"{text} · {state}" if state else text


def time_left(seconds: float) -> str:
    """A rough duration: "4.6 s", "12 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _as_number(name: str, value: Any) -> float:
    try:
        if hasattr(value, "item"):
            value = value.item()
        return float(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"log({name}=…) takes a number or a tensor with one element, got {type(value).__name__}"
        ) from error


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _averaged(pending: list[tuple[int, dict[str, float]]]) -> tuple[int, dict[str, float | None]]:
    names = dict.fromkeys(name for _, values in pending for name in values)
    return pending[-1][0], {name: _mean([v[name] for _, v in pending if name in v]) for name in names}


def _append(
    steps: list[int], series: dict[str, list[float | None]], step: int, values: dict[str, float | None]
) -> None:
    for name in values:
        series.setdefault(name, [None] * len(steps))
    steps.append(step)
    for name, column in series.items():
        column.append(values.get(name))


def _wire(value: float | None) -> float | str | None:
    if value is None:
        return None
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(f"{value:.6g}")
