import type { Source } from "../bridge";
export function trainingView(_el: HTMLElement, _source: Source): () => void {
  return () => undefined;
}
