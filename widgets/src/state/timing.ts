import type { TimingRow, Timings } from "../protocol.gen";

/** One line of the chart: a device, here or recorded elsewhere. */
export interface Series {
  name: string;
  device: string;
  recorded: TimingRow["recorded"];
  rows: TimingRow[];
}

/** The rows by device and place, each in order of size. */
export function seriesOf(results: Timings): Series[] {
  const all = new Map<string, Series>();
  for (const row of results.rows) {
    const key = JSON.stringify([row.device, row.recorded]);
    const series = all.get(key) ?? {
      name: row.recorded ? `${row.device} (${row.recorded.card}, ${row.recorded.date})` : row.device,
      device: row.device,
      recorded: row.recorded,
      rows: [],
    };
    series.rows.push(row);
    all.set(key, series);
  }
  for (const series of all.values()) series.rows.sort((a, b) => a.size - b.size);
  return [...all.values()];
}

export type Verdict =
  { kind: "from"; winner: string; size: number } | { kind: "always"; winner: string } | { kind: "never" } | null;

/** Who wins: from which size on, at every size, or nobody for good. Null when there is nothing to compare. */
export function crossover(series: readonly Series[]): Verdict {
  const sizes = [...new Set(series.flatMap(({ rows }) => rows.map((row) => row.size)))].sort((a, b) => a - b);
  const winners: { size: number; winner: string }[] = [];
  for (const size of sizes) {
    const here = series.flatMap(({ name, rows }) =>
      rows.filter((row) => row.size === size).map((row) => ({ name, time: row.median_s })),
    );
    if (here.length < 2) continue;
    const best = here.reduce((a, b) => (b.time < a.time ? b : a));
    winners.push({ size, winner: best.name });
  }
  const last = winners.at(-1);
  if (!last) return null;
  let from = winners.length - 1;
  while (from > 0 && winners[from - 1]?.winner === last.winner) from -= 1;
  if (from === 0) return { kind: "always", winner: last.winner };
  // One win at the largest size alone says little of the sizes beyond.
  if (
    from === winners.length - 1 &&
    winners.length > 3 &&
    winners.filter(({ winner }) => winner === last.winner).length > 1
  )
    return { kind: "never" };
  return { kind: "from", winner: last.winner, size: winners[from]?.size ?? last.size };
}

/** The parts of one call in order; launch is part of the synchronised time, transfers are apart from it. */
export function partsOf(
  row: TimingRow,
): { key: "transfer_in" | "launch" | "compute" | "transfer_out"; seconds: number }[] {
  const launch = Math.min(row.launch_s ?? 0, row.median_s);
  return [
    { key: "transfer_in" as const, seconds: row.transfer_in_s ?? 0 },
    { key: "launch" as const, seconds: launch },
    { key: "compute" as const, seconds: row.median_s - launch },
    { key: "transfer_out" as const, seconds: row.transfer_out_s ?? 0 },
  ].filter((part) => part.seconds > 0);
}

const COLUMNS = [
  "device",
  "size",
  "median_s",
  "low_s",
  "high_s",
  "transfer_in_s",
  "transfer_out_s",
  "launch_s",
  "unsynchronised_s",
] as const;

/** The rows as tab-separated text with full precision, for a spreadsheet. */
export function tableText(results: Timings): string {
  const lines = results.rows.map((row) =>
    [...COLUMNS.map((name) => row[name] ?? ""), row.recorded ? `${row.recorded.card}, ${row.recorded.date}` : ""].join(
      "\t",
    ),
  );
  return [[...COLUMNS, "recorded"].join("\t"), ...lines].join("\n");
}
