const MATHML = "http://www.w3.org/1998/Math/MathML";

// Formulas come from the library, but a page may be handed on: only elements of presentation MathML are rebuilt.
const ELEMENTS = new Set(
  (
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover " +
    "munderover mmultiscripts mprescripts mtable mtr mtd"
  ).split(" "),
);
const ATTRIBUTES = new Set(
  (
    "display displaystyle mathvariant stretchy fence separator accent accentunder form lspace rspace width height depth " +
    "linethickness columnalign rowspacing columnspacing scriptlevel movablelimits symmetric largeop minsize maxsize"
  ).split(" "),
);

function rebuild(node: Node): Node | null {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.textContent ?? "");
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  const source = node as Element;
  const name = source.localName.toLowerCase();
  if (!ELEMENTS.has(name)) return document.createTextNode(source.textContent ?? "");
  const element = document.createElementNS(MATHML, name);
  for (const { name: attribute, value } of source.attributes)
    if (ATTRIBUTES.has(attribute)) element.setAttribute(attribute, value);
  for (const child of source.childNodes) {
    const copy = rebuild(child);
    if (copy) element.append(copy);
  }
  return element;
}

/** A formula as MathML; as plain text when it is empty or cannot be read. */
export function math(mathml: string, text: string): HTMLElement {
  const holder = document.createElement("span");
  holder.className = "agl-math";
  const source = mathml.trim();
  const whole = source.startsWith("<math")
    ? source.replace(/<math(?![^>]*xmlns=)/, `<math xmlns="${MATHML}"`)
    : `<math xmlns="${MATHML}">${source}</math>`;
  const parsed = source ? new DOMParser().parseFromString(whole, "application/xml").documentElement : null;
  const broken = !parsed || parsed.localName !== "math" || parsed.getElementsByTagName("parsererror").length > 0;
  const element = broken ? null : rebuild(parsed);
  if (element) holder.append(element);
  else holder.textContent = text;
  if (text) holder.title = text;
  return holder;
}
