import type { Source } from "../bridge";
import { Undos } from "../state/signal";
import { chooseLanguage, translator, type Language, type StringKey, type Translate } from "../state/strings";
import { attrs, button, h, listen } from "./dom";

/** A key, what it does, and the words for it in the help. Several keys may share one line. */
export interface KeyHelp {
  keys: string;
  meaning: StringKey;
}

/** What every view stands in: a root with language, keys, help, a live region and a handle for its height. */
export interface Shell {
  root: HTMLElement;
  body: HTMLElement;
  t: Translate;
  language: Language;
  undos: Undos;
  source: Source;
  say(text: string): void;
  toggleFull(): void;
  toggleHelp(): void;
}

const DEFAULT_HEIGHT = 420;
const LOWEST = 220;

/** Whether a key press belongs to a field that takes text. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
}

/** Builds the frame of a view inside `el`. `onKey` returns true when it used the key. */
export function shell(
  el: HTMLElement,
  source: Source,
  view: string,
  title: StringKey,
  help: KeyHelp[],
  onKey: (event: KeyboardEvent) => boolean,
): Shell {
  const options = source.get("options") ?? {};
  const language = chooseLanguage(options.language, globalThis.navigator?.language);
  const t = translator(language);
  const undos = new Undos();
  const live = h("div", { class: "agl-live", "aria-live": "polite", "aria-atomic": "true" });
  const body = h("div", { class: "agl-body" });
  const handle = h("div", {
    class: "agl-handle",
    role: "separator",
    "aria-orientation": "horizontal",
    tabindex: 0,
    "aria-label": t("resize"),
  });
  const root = h(
    "div",
    {
      class: "agl",
      role: "group",
      "aria-label": t(title),
      "data-view": view,
      lang: language,
      dir: "ltr",
      "data-lm-suppress-shortcuts": "true",
    },
    body,
    live,
    handle,
  );
  undos.add(resizable(root, handle, options.height ?? DEFAULT_HEIGHT), () => root.remove());

  const frame: Shell = {
    root,
    body,
    t,
    language,
    undos,
    source,
    say: (text) => {
      live.textContent = text;
    },
    toggleFull: () => toggleFull(root),
    toggleHelp: () => toggleHelp(root, t, help),
  };
  undos.add(
    listen(root, "keydown", (event) => {
      const editing = isTyping(event.target);
      if (editing && event.key !== "Escape") return;
      const used = commonKey(frame, event) || onKey(event);
      if (used) event.preventDefault();
      // Single keys mean other things to the notebook (b adds a cell), so none leaves the view; Tab and shortcuts do.
      if (used || (event.key.length === 1 && !event.ctrlKey && !event.metaKey)) event.stopPropagation();
    }),
  );
  el.append(root);
  return frame;
}

function commonKey(frame: Shell, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "f") frame.toggleFull();
  else if (event.key === "?") frame.toggleHelp();
  else if (event.key === "Escape" && frame.root.querySelector(".agl-help")) frame.toggleHelp();
  else return false;
  return true;
}

function toggleFull(root: HTMLElement): void {
  const change = document.fullscreenElement === root ? document.exitFullscreen?.() : root.requestFullscreen?.();
  // A page may forbid it; then the class alone makes the view as large as the window.
  change?.catch(() => root.classList.toggle("agl-large"));
}

function toggleHelp(root: HTMLElement, t: Translate, help: KeyHelp[]): void {
  const open = root.querySelector(".agl-help");
  if (open) {
    open.remove();
    root.querySelector<HTMLElement>('[data-action="help"]')?.focus();
    return;
  }
  const list = h("dl");
  const lines: KeyHelp[] = [...help, { keys: "f", meaning: "key_full" }, { keys: "?", meaning: "key_help" }];
  for (const { keys, meaning } of lines)
    list.append(
      h("dt", {}, ...keys.split(" ").map((key) => h("kbd", {}, key.replace("_", " ")))),
      h("dd", {}, t(meaning)),
    );
  const close = button("close-help", t("close"), "close", () => toggleHelp(root, t, help));
  root.append(
    h(
      "div",
      { class: "agl-help", role: "dialog", "aria-label": t("help") },
      h("div", { class: "agl-help-head" }, h("b", {}, t("help")), close),
      list,
    ),
  );
  close.focus();
}

function resizable(root: HTMLElement, handle: HTMLElement, start: number): () => void {
  let height = 0;
  const set = (next: number): void => {
    height = Math.max(LOWEST, Math.min(4000, Math.round(next)));
    root.style.setProperty("--agl-height", `${height}px`);
    attrs(handle, { "aria-valuenow": height, "aria-valuemin": LOWEST, "aria-valuemax": 4000 });
  };
  set(start);
  const undos = new Undos();
  undos.add(
    listen(handle, "pointerdown", (event) => {
      const from = event.clientY - height;
      handle.setPointerCapture?.(event.pointerId);
      const stop = listen(handle, "pointermove", (move) => set(move.clientY - from));
      listen(handle, "pointerup", stop, { once: true });
      listen(handle, "pointercancel", stop, { once: true });
    }),
    listen(handle, "keydown", (event) => {
      const change = { ArrowUp: -20, ArrowDown: 20 }[event.key];
      if (change === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      set(height + change);
    }),
  );
  return () => undos.run();
}

/** A card in place of a view that cannot be drawn: never an empty space. */
export function messageCard(title: string, text: string): HTMLElement {
  return h("div", { class: "agl-message", role: "note" }, title ? h("b", {}, title) : null, h("p", {}, text));
}
