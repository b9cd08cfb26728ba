const SVG = "http://www.w3.org/2000/svg";

export type Props = Record<string, string | number | boolean | null | undefined>;
type Child = Node | string | null | undefined | false;

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** An HTML element with attributes and children; strings become text, never markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  for (const child of children) if (child) element.append(child);
  return element;
}

/** An SVG element with attributes and children. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  apply(element, props);
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Sets attributes that differ; leaves the rest of the element alone. */
export function attrs(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    const next = value === null || value === undefined || value === false ? null : value === true ? "" : String(value);
    if (next === element.getAttribute(name)) continue;
    if (next === null) element.removeAttribute(name);
    else element.setAttribute(name, next);
  }
}

/** Sets text only when it differs, so that selections and live regions are left in peace. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Listens, and returns the undo. */
export function listen<K extends keyof HTMLElementEventMap>(
  target: EventTarget,
  event: K,
  listener: (event: HTMLElementEventMap[K]) => void,
  options?: AddEventListenerOptions,
): () => void {
  target.addEventListener(event, listener as EventListener, options);
  return () => target.removeEventListener(event, listener as EventListener, options);
}

const ICONS: Record<string, string> = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11.5 3v10L4 8z",
  step: "M4.5 3v10L12 8z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M4 2.5v11L13 8zM5.6 5.2 10 8l-4.4 2.8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  reset: "M8 3a5 5 0 1 1-4.9 4h1.6A3.5 3.5 0 1 0 8 4.5V7L4.2 3.7 8 .5z",
  "run-to": "M2 7h6V4l4 4-4 4V9H2zM12.5 3H14v10h-1.5z",
  fit: "M2 6V2h4v1.6H3.6V6zM10 2h4v4h-1.6V3.6H10zM2 10h1.6v2.4H6V14H2zM12.4 10H14v4h-4v-1.6h2.4z",
  full: "M9 2h5v5l-1.8-1.8L9.6 7.8 8.2 6.4l2.6-2.6zM2 9l1.8 1.8 2.6-2.6 1.4 1.4-2.6 2.6L7 14H2z",
  turn: "M3 4h7V1.5L14 5l-4 3.5V6H5v8H3z",
  legend: "M2 3h3v3H2zM7 3.7h7v1.6H7zM2 10h3v3H2zM7 10.7h7v1.6H7z",
  help: "M6 6a2 2 0 1 1 2.9 1.8c-.6.3-.9.6-.9 1.5h-.1m.1 2.2v.2",
  plus: "M7.2 3h1.6v4.2H13v1.6H8.8V13H7.2V8.8H3V7.2h4.2z",
  minus: "M3 7.2h10v1.6H3z",
  close: "M3.5 4.6 4.6 3.5 8 6.9l3.4-3.4 1.1 1.1L9.1 8l3.4 3.4-1.1 1.1L8 9.1l-3.4 3.4-1.1-1.1L6.9 8z",
  stop: "M4 4h8v8H4z",
  break: "M5.2 2h5.6L14 5.2v5.6L10.8 14H5.2L2 10.8V5.2z",
  watch:
    "M8 3.5C4.5 3.5 2 6.3 1 8c1 1.7 3.5 4.5 7 4.5S14 9.7 15 8c-1-1.7-3.5-4.5-7-4.5zm0 7A2.5 2.5 0 1 1 8 5.5a2.5 2.5 0 0 1 0 5z",
};

/** A small picture for a button; hidden from screen readers, which read the button's label. */
export function icon(name: string): SVGSVGElement {
  const path = s("path", { d: ICONS[name] ?? "", class: name === "help" ? "agl-icon-line" : null });
  return s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "agl-icon" }, path);
}

/** A button with a picture and, where asked for, a word. */
export function button(
  action: string,
  label: string,
  picture: string | null,
  onClick: () => void,
  word = false,
): HTMLButtonElement {
  const element = h(
    "button",
    { type: "button", class: "agl-button", "data-action": action, "aria-label": label, title: label },
    picture ? icon(picture) : null,
    word && label,
  );
  element.addEventListener("click", onClick);
  return element;
}

/** Changes a button's word, picture and label together. */
export function relabel(element: HTMLButtonElement, label: string, picture: string | null): void {
  attrs(element, { "aria-label": label, title: label });
  const old = element.querySelector("svg");
  if (old && picture) old.replaceWith(icon(picture));
  const word = [...element.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  if (word) word.textContent = label;
}
