import type { Summary, WireNumber } from "../protocol.gen";

export const NOT_YET = "–";
const MINUS = "−";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** The number that travels as `wire`: JSON has no NaN and no infinities, so those come as words. */
export function fromWire(wire: WireNumber): number {
  return typeof wire === "number" ? wire : Number(wire);
}

/** Whether a wire number is NaN or infinite. */
export function isNonFinite(wire: WireNumber | null | undefined): boolean {
  return wire !== null && wire !== undefined && !Number.isFinite(fromWire(wire));
}

function superscript(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return (exponent < 0 ? "⁻" : "") + digits;
}

/**
 * A number as the learner reads it: four significant digits, a true minus sign, a plain number where one fits.
 *
 * @example formatNumber(0.41234) // "0.4123"; formatNumber(null) // "–"; formatNumber("NaN") // "NaN"
 */
export function formatNumber(wire: WireNumber | null | undefined, digits = 4): string {
  if (wire === null || wire === undefined) return NOT_YET;
  const value = fromWire(wire);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}Inf` : "Inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? MINUS : "";
  if (Number.isInteger(value) && size < 1e7) return sign + String(size);
  const [mantissa = "", power = "0"] = size.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent > 6) return `${sign}${mantissa}·10${superscript(exponent)}`;
  return sign + size.toFixed(Math.max(0, digits - 1 - exponent));
}

/** Full precision, for hovers and copying. */
export function exact(wire: WireNumber | null | undefined): string {
  if (wire === null || wire === undefined) return NOT_YET;
  return String(fromWire(wire));
}

/** A shape as "3×4"; the empty shape of a single number is "scalar" in the language of the view. */
export function formatShape(shape: readonly number[] | null | undefined, scalar = "scalar"): string {
  if (!shape) return "";
  return shape.length === 0 ? scalar : shape.join("×");
}

/** A time with the unit that keeps it between 1 and 1,000. */
export function formatTime(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return NOT_YET;
  const units: [number, string][] = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  if (seconds === 0) return "0 s";
  const [scale, unit] = units.find(([one]) => Math.abs(seconds) >= one * 0.9995) ?? [1e-9, "ns"];
  return `${formatNumber(seconds / scale, 3)} ${unit}`;
}

/** Bytes with a binary unit. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return NOT_YET;
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${formatNumber(value, 3)} ${units[at]}`;
}

/** A count with thin separators, as in 1,797. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Row-major position → index per axis. */
export function unravel(flat: number, shape: readonly number[]): number[] {
  const index = new Array<number>(shape.length).fill(0);
  let rest = flat;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const length = shape[axis] ?? 1;
    index[axis] = rest % length;
    rest = Math.floor(rest / length);
  }
  return index;
}

/** What a tensor amounts to in one figure: its value when it is a single number, else its norm. */
export function headline(summary: Summary | null | undefined): {
  text: string;
  full: string;
  isNorm: boolean;
  bad: string;
} {
  if (!summary) return { text: NOT_YET, full: NOT_YET, isNorm: false, bad: "" };
  const bad = badWord(summary);
  const only = summary.size === 1 ? summary.values?.[0] : undefined;
  if (only !== undefined) return { text: formatNumber(only), full: exact(only), isNorm: false, bad };
  // Nothing finite to take a norm of; a dash would say "not computed yet".
  if (summary.norm === null && bad) return { text: bad, full: bad, isNorm: false, bad };
  const allZero = summary.size > 0 && summary.zeros === summary.size;
  return { text: allZero ? "0" : formatNumber(summary.norm), full: exact(summary.norm), isNorm: !allZero, bad };
}

/** "NaN" or "Inf" when the tensor holds one, else "". */
export function badWord(summary: Summary | null | undefined): string {
  if (!summary) return "";
  if (summary.nan > 0) return "NaN";
  return summary.inf > 0 ? "Inf" : "";
}
