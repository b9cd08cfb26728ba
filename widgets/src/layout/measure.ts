// Widths by a table, not by the page's font: the same tape gives the same picture on every machine,
// and in tests without a browser. The table follows wide sans-serif faces, so that text fits in others too.
const NARROW = new Set([..."iljtfrI.,:;'|!()[] ·/"]);
const WIDE = new Set([..."mwMW@%—…⁻"]);

function units(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (
    code >= 0x1100 &&
    (code <= 0x11ff ||
      (code >= 0x2e80 && code <= 0xd7ff) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xff00 && code <= 0xff60) ||
      code >= 0x1f000)
  ) {
    return 1.04;
  }
  if (NARROW.has(character)) return 0.37;
  if (WIDE.has(character)) return 0.98;
  return character >= "A" && character <= "Z" ? 0.71 : 0.63;
}

/** Width of `text` in pixels at `size` pixels; Chinese characters count a full square. */
export function textWidth(text: string, size: number): number {
  let sum = 0;
  for (const character of text) sum += units(character);
  return sum * size;
}

/** `text`, cut with an ellipsis so that it is at most `width` wide. */
export function clip(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  const kept: string[] = [];
  let sum = units("…") * size;
  for (const character of text) {
    sum += units(character) * size;
    if (sum > width) break;
    kept.push(character);
  }
  return `${kept.join("")}…`;
}
