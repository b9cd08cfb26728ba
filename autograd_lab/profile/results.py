"""Results of a comparison of devices: rows, and their bodies as text, SVG, figure, CSV and JSON."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import textwrap
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from ..display import document, formatters, html
from ..display.charts import Series, format_count, format_seconds, line_chart
from ..display.schema import PROTOCOL
from . import machine as machines

__all__ = ["DeviceComparison", "Row"]

FORMAT = "autograd_lab.timings"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One device at one size. Times in seconds for one call; None where there is nothing to measure.

    `median`, `low`, `high`, `ci_low`, `ci_high`, `launch`, `device_time`, `unsynchronised`, `first`, `runs` are those
    of `Timing`; `transfer_in` and `transfer_out` move inputs and result between host and device (0 on the CPU);
    `recorded` is None for a row measured in this session, else {"card": …, "date": …} of where it comes from.
    """

    device: str
    size: int
    median: float
    low: float
    high: float
    ci_low: float
    ci_high: float
    transfer_in: float
    transfer_out: float
    launch: float | None = None
    device_time: float | None = None
    unsynchronised: float | None = None
    first: float | None = None
    runs: int = 0
    recorded: dict[str, str] | None = None

    @property
    def name(self) -> str:
        """The device, and for a recorded row its card and date."""
        if self.recorded is None:
            return self.device
        return f"{self.device} ({self.recorded['card']}, {self.recorded['date']})"

    @property
    def total(self) -> float:
        """Median with the way in and out."""
        return self.median + self.transfer_in + self.transfer_out


COLUMNS = [f.name for f in dataclasses.fields(Row) if f.name != "recorded"]
TIMES = [name for name in COLUMNS if name not in ("device", "size", "runs")]


@dataclass
class DeviceComparison:
    """What `compare_devices` measured.

    Attributes:
        rows: one `Row` for each device and size.
        machine: description of the machine (`profile.machine.describe`).
        label: what was timed. note: what the reader should know. date: ISO day.
        hardware: card by device, where known.
        plan: how to measure again; None for loaded results.
    """

    rows: list[Row]
    machine: dict[str, Any]
    label: str
    note: str = ""
    hardware: dict[str, str] = field(default_factory=dict)
    date: str = ""
    plan: Any = None

    @property
    def names(self) -> list[str]:
        """The lines of the picture, in order: devices, and recorded devices with card and date."""
        return list(dict.fromkeys(row.name for row in self.rows))

    def line(self, name: str) -> list[Row]:
        """The rows of one line, by size."""
        return sorted((row for row in self.rows if row.name == name), key=lambda row: row.size)

    def crossover(self, fast: str, slow: str = "cpu", *, transfers: bool = False) -> int | None:
        """The size from which on `fast` beats `slow` at every size measured on both; None if it never stays so.

        Args:
            fast, slow: names of lines (`names`).
            transfers: count the way of inputs and result, too.

        Raises:
            ValueError: no such line.
        """
        for name in (fast, slow):
            if name not in self.names:
                raise ValueError(f"no device {name!r} in these results: they have {', '.join(self.names)}")
        by_size = {row.size: row for row in self.line(slow)}
        found = None
        for row in reversed(self.line(fast)):
            other = by_size.get(row.size)
            if other is None:
                continue
            if transfers:
                faster = row.total < other.total
            else:
                faster = row.median < other.median
            if not faster:
                break
            found = row.size
        return found

    def sentences(self) -> list[str]:
        """What the curves say, in words: who wins from which size on, and how wrong one is without waiting."""
        out = []
        others = [name for name in self.names if name != "cpu"]
        for name in others if "cpu" in self.names else []:
            size, with_transfers = self.crossover(name), self.crossover(name, transfers=True)
            if size is None:
                out.append(f"The CPU wins against {name} up to the largest size.")
                continue
            text = f"{name} wins from size {format_count(size)} on"
            if with_transfers is None:
                text += "; with transfers counted, the CPU does up to the largest size"
            elif with_transfers != size:
                text += f"; with transfers counted, from {format_count(with_transfers)} on"
            out.append(text + ".")
        for name in others:
            row = self.line(name)[-1]
            if row.unsynchronised and row.median > 1.5 * row.unsynchronised:
                out.append(
                    f"Without waiting for {name} one would read {format_seconds(row.unsynchronised)} at size "
                    f"{format_count(row.size)}, where it takes {format_seconds(row.median)}."
                )
        return out

    def beside(self, other: DeviceComparison) -> DeviceComparison:
        """These results with those of another machine beside them (from `load`), to be shown in one picture."""
        return dataclasses.replace(self, rows=[*self.rows, *other.rows], hardware={**other.hardware, **self.hardware})

    def table(self) -> str:
        """The rows as aligned text; "–" where there is nothing to measure."""
        head = ["device", "size", "median", "10–90 %", "transfer in", "launch", "transfer out", "not waited for"]
        cells = [head]
        for name in self.names:
            for row in self.line(name):
                cells.append(
                    [
                        name,
                        format_count(row.size),
                        format_seconds(row.median),
                        f"{format_seconds(row.low)} to {format_seconds(row.high)}",
                        *map(format_seconds, (row.transfer_in, row.launch, row.transfer_out, row.unsynchronised)),
                    ]
                )
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        aligned = [
            [line[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True)]
            for line in cells
        ]
        return "\n".join("  ".join(line).rstrip() for line in aligned)

    def text(self) -> str:
        """Title, table, sentences, note and machine as plain text."""
        parts = [f"{self.label}: time of a call", self.table(), *self.sentences(), self.note]
        return "\n".join(part for part in [*parts, machines.one_line(self.machine)] if part)

    __repr__ = text

    def svg(self) -> str:
        """The curves as one static SVG: log–log, with bands, recorded lines dashed, the wrong reading in grey."""
        series = []
        for name in self.names:
            rows = self.line(name)
            x = [row.size for row in rows]
            dashed = rows[0].recorded is not None
            band = ([row.low for row in rows], [row.high for row in rows])
            series.append(Series(name, x, [row.median for row in rows], *band, dashed=dashed))
            if any(row.unsynchronised is not None for row in rows) and not dashed:
                wrong = [row.unsynchronised for row in rows]
                series.append(Series("not waited for", x, wrong, quiet=True))
        sizes = sorted({row.size for row in self.rows})
        footer = _wrapped([*self.sentences(), self.note, machines.one_line(self.machine)])
        return line_chart(
            series,
            title=f"{self.label}: time of a call",
            description=" ".join([self._spoken(), *self.sentences(), self.note]).strip(),
            x_label="size",
            y_label="median time",
            log_x=True,
            log_y=True,
            x_ticks=sizes if len(sizes) <= 12 else None,
            y_text=_tick,
            footer=footer,
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves with matplotlib and return the axes.

        Raises:
            ImportError: matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install matplotlib (svg() needs nothing)") from error
        if ax is None:
            _, ax = pyplot.subplots()
        for name in self.names:
            rows = self.line(name)
            x = [row.size for row in rows]
            style = "--" if rows[0].recorded else "-"
            (line,) = ax.plot(x, [row.median for row in rows], style, marker="o", label=name)
            ax.fill_between(x, [row.low for row in rows], [row.high for row in rows], color=line.get_color(), alpha=0.2)
            wrong = [math.nan if row.unsynchronised is None else row.unsynchronised for row in rows]
            if not all(map(math.isnan, wrong)):
                ax.plot(x, wrong, color="0.5", linewidth=1, label=f"{name}, not waited for")
        ax.set(xscale="log", yscale="log", xlabel="size", ylabel="median time of a call in seconds", title=self.label)
        ax.legend()
        return ax

    # ----- notebooks -----

    view = "timings"

    def data(self) -> dict[str, Any]:
        """The view as plain data (`schema.MountData`)."""
        return {"view": self.view, "protocol": PROTOCOL, "results": self.to_wire(), "options": {}}

    def static_html(self) -> str:
        """The curves as a cell output, the table folded below."""
        table = f"<details><summary>table</summary><pre>{escape(self.table())}</pre></details>"
        return html.static(self.svg(), self.text(), table)

    def static_bundle(self) -> dict[str, Any]:
        """The second output: picture, text, and the data for the exporter."""
        return html.static_bundle(self.text(), self.static_html, self.data)

    def _repr_html_(self) -> str:
        return self.static_html()

    def _ipython_display_(self) -> None:
        live = document.live_view(self) if document.live_view is not None else None
        formatters.show(self, live)

    # ----- files -----

    def to_wire(self) -> dict[str, Any]:
        """The trait `results` of the live view (`display/schema.py`, `Timings`)."""
        sent = ("median", "low", "high", "transfer_in", "transfer_out", "launch", "unsynchronised")
        rows = [
            {"device": row.device, "size": row.size}
            | {f"{name}_s": getattr(row, name) for name in sent}
            | {"recorded": row.recorded}
            for row in self.rows
        ]
        return {"machine": machines.one_line(self.machine), "label": self.label, "rows": rows, "note": self.note}

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV (times in seconds, machine in the last column); written to `path` if given."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        head = [f"{name}_s" if name in TIMES else name for name in COLUMNS]
        writer.writerow([*head, "recorded_card", "recorded_date", "machine"])
        line = machines.one_line(self.machine)
        for row in self.rows:
            known = row.recorded or {"card": "", "date": ""}
            writer.writerow([getattr(row, name) for name in COLUMNS] + [known["card"], known["date"], line])
        return _written(out.getvalue(), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything with the machine's description as JSON, for `load` elsewhere; written to `path` if given."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "label": self.label,
            "date": self.date,
            "machine": self.machine,
            "hardware": self.hardware,
            "note": self.note,
            "rows": [dataclasses.asdict(row) for row in self.rows],
        }
        return _written(json.dumps(data, indent=1, ensure_ascii=False) + "\n", path)

    @classmethod
    def load(cls, source: str | Path) -> DeviceComparison:
        """Read results recorded elsewhere: a path, or the JSON text. Every row is labelled with its card and date.

        Raises:
            ValueError: not such a file, or of a later version.
        """
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        data = json.loads(source if is_text else Path(source).read_text("utf-8"))
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"not recorded timings: expected JSON with format {FORMAT!r} (write it with to_json)")
        if data.get("version", 0) > VERSION:
            raise ValueError(f"recorded timings of version {data['version']}: this library reads up to {VERSION}")
        rows = []
        for item in data["rows"]:
            card = data["hardware"].get(item["device"]) or data["machine"].get("processor") or item["device"]
            item["recorded"] = item.get("recorded") or {"card": card, "date": data["date"]}
            rows.append(Row(**{key: value for key, value in item.items() if key in (*COLUMNS, "recorded")}))
        kept = {key: data[key] for key in ("machine", "label", "note", "hardware", "date")}
        return cls(rows=rows, **kept)

    def _spoken(self) -> str:
        spans = []
        for name in self.names:
            rows = self.line(name)
            spans.append(
                f"{name}: {format_seconds(rows[0].median)} at size {format_count(rows[0].size)}"
                + (f" to {format_seconds(rows[-1].median)} at {format_count(rows[-1].size)}." if len(rows) > 1 else ".")
            )
        return " ".join(spans)


def _tick(seconds: float) -> str:
    """A round time on an axis: "100 µs"."""
    text = format_seconds(seconds)
    number, unit = text.split(" ")
    return f"{float(number):g} {unit}"


def _wrapped(texts: list[str], width: int = 100) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, width)]


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
