import type { Source } from "../bridge";
export function timingsView(_el: HTMLElement, _source: Source): () => void {
  return () => undefined;
}
