import { formatNumber, formatShape } from "../state/format";
import type { Translate } from "../state/strings";
import type { Item, Tape, TapeNode } from "../state/tape";
import { clip, textWidth } from "./measure";

export const SIZES = { main: 14, small: 10.5 };
const LONGEST = 150;

/** The words on a box and the room they take. */
export interface Face {
  width: number;
  height: number;
  given: string;
  main: string;
  small: string;
  out: string;
}

/** What stands beside a value in the picture: its number when it is one, else its shape. */
export function shortValue(node: TapeNode, t: Translate): string {
  const only = node.value?.size === 1 ? node.value.values?.[0] : undefined;
  return only === undefined ? formatShape(node.shape, t("scalar")) : formatNumber(only);
}

/** The words and the size of one item; a pure function, so that the layout is the same everywhere. */
export function faceOf(item: Item, tape: Tape, t: Translate): Face {
  const { node } = item;
  if (!node) {
    const main = clip(tape.groups[item.group]?.label ?? "", SIZES.main, LONGEST);
    return face("", main, `×${item.count}`, "", 30, 50);
  }
  const out = shortValue(node, t);
  if (node.kind === "op" || node.kind === "output") {
    const given = node.label ? clip(`${node.label} =`, SIZES.main, LONGEST) : "";
    return face(
      given,
      clip(node.symbol || node.op || node.name, SIZES.main, LONGEST),
      clip(node.name, SIZES.small, LONGEST),
      out,
      28,
      44,
    );
  }
  if (node.kind === "constant")
    return face("", clip(node.label || out, SIZES.main, LONGEST), node.label ? out : t("constant"), "", 12, 36);
  return face("", clip(ownName(node, tape) || `${t(node.kind)} ${tape.nameOf(node.id)}`, SIZES.main, LONGEST), out, "", 28, 44);
}

/** A parameter's name without the path of the module whose frame stands around it. */
function ownName(node: TapeNode, tape: Tape): string {
  const path = tape.groupPath(node.group).map((group) => (tape.groups[group]?.label ?? "").replace(/ \(\d+\)$/, ""));
  for (let at = 0; node.kind === "parameter" && at < path.length; at += 1) {
    const place = `.${node.label}`.indexOf(`.${path.slice(at).join(".")}.`);
    if (place >= 0) return node.label.slice(place + path.slice(at).join(".").length + 1);
  }
  return node.label;
}

function face(given: string, main: string, small: string, out: string, pad: number, height: number): Face {
  const first = textWidth(given, SIZES.main) + (given ? 5 : 0) + textWidth(main, SIZES.main) * 1.06;
  const width = Math.ceil(Math.max(first, textWidth(small, SIZES.small)) + pad);
  return { width: Math.max(width, 52), height, given, main, small, out };
}
