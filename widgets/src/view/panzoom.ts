import type { Point, Rect } from "../layout/layout";
import { Undos } from "../state/signal";
import { listen } from "./dom";

const SMALLEST = 0.02;
const LARGEST = 4;

/** Moves and scales one group of an SVG: drag, wheel with ctrl, two fingers, and by call. */
export class PanZoom {
  x = 0;
  y = 0;
  scale = 1;
  /** True once the picture was moved, by a person or to a node: then it is no longer fitted by itself. */
  touched = false;
  private undos = new Undos();
  private dragged = false;

  constructor(
    private svg: SVGSVGElement,
    private world: SVGGElement,
  ) {
    this.undos.add(
      listen(svg as unknown as EventTarget, "pointerdown", (event) => this.drag(event)),
      listen(svg as unknown as EventTarget, "wheel", (event) => this.wheel(event), { passive: false }),
      // A drag that ends on a node is not a click on it.
      listen(svg as unknown as EventTarget, "click", (event) => this.dragged && event.stopPropagation(), {
        capture: true,
      }),
    );
  }

  dispose(): void {
    this.undos.run();
  }

  get size(): { width: number; height: number } {
    return { width: this.svg.clientWidth || 640, height: this.svg.clientHeight || 360 };
  }

  /** Shows all of `bounds`; never larger than life. */
  fit(bounds: Rect, glide = false): void {
    const { width, height } = this.size;
    const pad = 26;
    const scale = Math.min(
      (width - 2 * pad) / Math.max(1, bounds.width),
      (height - 2 * pad) / Math.max(1, bounds.height),
      1.15,
    );
    this.scale = Math.max(SMALLEST, scale);
    this.centre({ x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 }, glide);
    this.touched = false;
  }

  /** Puts a point of the picture into the middle of the view. */
  centre(point: Point, glide = true): void {
    const { width, height } = this.size;
    this.x = width / 2 - point.x * this.scale;
    this.y = height / 2 - point.y * this.scale;
    this.touched = true;
    this.write(glide);
  }

  /** Puts a point near the far end of the view, at a scale; the view still counts as not touched. */
  begin(point: Point, scale: number, horizontal: boolean): void {
    const { width, height } = this.size;
    this.scale = scale;
    this.x = (horizontal ? width * 0.8 : width / 2) - point.x * scale;
    this.y = (horizontal ? height / 2 : height * 0.8) - point.y * scale;
    this.write(false);
  }

  /** Whether a box around `point` is in full view. */
  shows(point: Point, room = 60): boolean {
    const { width, height } = this.size;
    const x = point.x * this.scale + this.x;
    const y = point.y * this.scale + this.y;
    return x > room && y > room * 0.6 && x < width - room && y < height - room * 0.6;
  }

  move(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.touched = true;
    this.write(true);
  }

  /** Scales about the middle of the view, or about a place in it. */
  zoom(factor: number, about?: Point, glide = true): void {
    const { width, height } = this.size;
    const { x, y } = about ?? { x: width / 2, y: height / 2 };
    const next = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = x - ((x - this.x) * next) / this.scale;
    this.y = y - ((y - this.y) * next) / this.scale;
    this.scale = next;
    this.touched = true;
    this.write(glide);
  }

  private write(glide: boolean): void {
    this.world.classList.toggle("agl-glide", glide);
    // Seen from afar, small words go and large ones grow.
    this.svg.classList.toggle("agl-far", this.scale < 0.68);
    this.world.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
  }

  private wheel(event: WheelEvent): void {
    // The plain wheel belongs to the page.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = this.svg.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY * 0.0025), { x: event.clientX - left, y: event.clientY - top }, false);
  }

  private drag(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.dragged = false;
    const from = { x: event.clientX - this.x, y: event.clientY - this.y };
    const start = { x: event.clientX, y: event.clientY };
    const stopMove = listen(window, "pointermove", (move) => {
      if (!this.dragged && Math.hypot(move.clientX - start.x, move.clientY - start.y) < 4) return;
      this.dragged = true;
      this.touched = true;
      this.svg.classList.add("agl-dragging");
      this.x = move.clientX - from.x;
      this.y = move.clientY - from.y;
      this.write(false);
    });
    const stop = (): void => {
      stopMove();
      stopUp();
      stopCancel();
      this.svg.classList.remove("agl-dragging");
    };
    const stopUp = listen(window, "pointerup", stop);
    const stopCancel = listen(window, "pointercancel", stop);
    this.undos.add(stop);
  }
}
