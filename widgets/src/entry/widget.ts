import { liveSource, staticSource, type AnyModel, type Source, type Traits } from "../bridge";
import { PROTOCOL } from "../protocol.gen";
import { chooseLanguage, translator } from "../state/strings";
import { graphView } from "../view/graph";
import { messageCard } from "../view/shell";
import { h } from "../view/dom";
import { stepperView } from "../view/stepper";
import { timingsView } from "../view/timings";
import { trainingView } from "../view/training";

type Start = (el: HTMLElement, source: Source) => () => void;

const VIEWS: Record<string, { start: Start; needs: keyof Traits }> = {
  graph: { start: graphView, needs: "graph" },
  stepper: { start: stepperView, needs: "graph" },
  timings: { start: timingsView, needs: "results" },
  training: { start: trainingView, needs: "points" },
};

/** A card in the view's frame, for what cannot be drawn. */
function card(el: HTMLElement, title: string, text: string): () => void {
  const root = h("div", { class: "agl agl-alone" }, messageCard(title, text));
  el.append(root);
  return () => root.remove();
}

/** Draws the view that the data asks for; a readable card when it cannot. */
function start(el: HTMLElement, source: Source): () => void {
  const t = translator(chooseLanguage(source.get("options")?.language, globalThis.navigator?.language));
  const protocol = source.get("protocol") ?? source.get("graph")?.protocol ?? PROTOCOL;
  const name = source.get("view") ?? "graph";
  const view = VIEWS[name];
  let stop: () => void;
  if (protocol !== PROTOCOL) stop = card(el, "", t("unknown_protocol", { ours: PROTOCOL, theirs: String(protocol) }));
  else if (!view) stop = card(el, "", t("unknown_view", { view: name }));
  else if (!source.get(view.needs)) stop = card(el, "", t("wrong_shape", { what: view.needs }));
  else {
    try {
      stop = view.start(el, source);
    } catch (error) {
      el.querySelector(".agl")?.remove();
      stop = card(el, t("wrong_shape", { what: name }), String(error instanceof Error ? error.message : error));
      console.error(error);
    }
  }
  return () => {
    stop();
    source.dispose();
  };
}

/** Draws a view from plain data, without a kernel: for standalone pages. Returns the clean-up. */
export function mount(el: HTMLElement, data: Traits): () => void {
  return start(el, staticSource(data));
}

export default {
  /** Draws one view of a live model; anywidget calls the clean-up when the output goes. */
  render({ model, el }: { model: AnyModel; el: HTMLElement }): () => void {
    return start(el, liveSource(model));
  },
};
