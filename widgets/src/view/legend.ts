import { button, h, s, attrs } from "./dom";
import type { Shell } from "./shell";
import type { StringKey } from "../state/strings";

type Sample = [StringKey, SVGElement[]];

const rect = (className: string, props: Record<string, number> = {}): SVGElement =>
  s("rect", { class: className, x: 3, y: 3, width: 30, height: 14, rx: 4, ...props });

function samples(): Sample[] {
  const line = (className: string): SVGElement => s("path", { class: className, d: "M3 10h30" });
  return [
    ["leaf", [rect("agl-key-leaf")]],
    [
      "parameter",
      [rect("agl-key-parameter"), rect("agl-key-parameter", { x: 5.5, y: 5.5, width: 25, height: 9, rx: 2 })],
    ],
    ["op", [rect("agl-key-op", { rx: 7 })]],
    [
      "output",
      [
        rect("agl-key-op", { x: 5, y: 5, width: 26, height: 10, rx: 5 }),
        rect("agl-key-ring", { x: 2, y: 2, width: 32, height: 16, rx: 8 }),
      ],
    ],
    ["legend_forward", [line("agl-forward")]],
    ["legend_backward", [line("agl-key-backward")]],
    ["legend_next", [line("agl-key-next")]],
    ["legend_saved", [s("circle", { class: "agl-saved", cx: 18, cy: 10, r: 5 })]],
  ];
}

/** A button that opens the legend over the picture. */
export function legend(frame: Shell): HTMLButtonElement {
  const { t, root } = frame;
  const toggle = button("legend", t("legend"), "legend", () => {
    const open = root.querySelector(".agl-legend");
    attrs(toggle, { "aria-expanded": open ? "false" : "true" });
    if (open) return open.remove();
    const list = h("ul", { class: "agl-legend" });
    for (const [key, marks] of samples())
      list.append(
        h(
          "li",
          {},
          s("svg", { width: 36, height: 20, viewBox: "0 0 36 20", "aria-hidden": "true" }, ...marks) as unknown as Node,
          t(key),
        ),
      );
    root.querySelector(".agl-canvas")?.append(list);
  });
  attrs(toggle, { "aria-expanded": "false" });
  return toggle;
}
