import { s3Error } from "./errors.ts";

/** An element as a value: text, or children in order. A name with an array value repeats. */
type XmlValue = string | number | boolean | undefined | XmlObject | readonly (XmlObject | string)[];
export interface XmlObject {
  readonly [name: string]: XmlValue;
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** A document with the S3 namespace; absent values are left out. */
export function xmlDocument(root: string, content: XmlObject, withNamespace = true): string {
  const attributes = withNamespace ? ` xmlns="${namespace}"` : "";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attributes}>${children(content)}</${root}>`;
}

function children(content: XmlObject): string {
  return Object.entries(content)
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map((v) => element(name, v)) : [element(name, value as XmlValue)]))
    .join("");
}

function element(name: string, value: XmlValue): string {
  if (value === undefined) return "";
  const inner = typeof value === "object" ? children(value as XmlObject) : escapeXml(String(value));
  return `<${name}>${inner}</${name}>`;
}

/** Escapes text; control characters that XML 1.0 cannot carry become references, as Amazon S3 sends them. */
export function escapeXml(text: string): string {
  return text.replace(
    /[&<>"']|\p{Cc}/gu,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" })[c] ?? `&#x${c.charCodeAt(0).toString(16)};`,
  );
}

/** A parsed element: its text, and its children by name in order. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/**
 * Parses the small documents that S3 clients send: elements, text, attributes (ignored), comments, CDATA. No DTD, no
 * entities but the five of XML and character references, at most eight levels. Throws `MalformedXML`.
 */
export function parseXml(source: string): XmlElement {
  const malformed = () => s3Error("MalformedXML", "the XML is not well-formed or not what the operation takes");
  const token =
    /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
  const stack: { name: string; text: string; children: XmlElement[] }[] = [{ name: "", text: "", children: [] }];
  const text = source.replace(/^\uFEFF/, "").trim();
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    const top = stack.at(-1);
    if (match === null || top === undefined) throw malformed();
    const [, cdata, closing, name, , empty, characters] = match;
    if (cdata !== undefined) top.text += cdata;
    else if (characters !== undefined) top.text += resolveReferences(characters, malformed);
    else if (name !== undefined && closing === "/") {
      const parent = stack.at(-2);
      if (top.name !== name || parent === undefined) throw malformed();
      stack.pop();
      parent.children.push(top);
    } else if (name !== undefined) {
      if (empty === "/") top.children.push({ name, text: "", children: [] });
      else stack.push({ name, text: "", children: [] });
      if (stack.length > 9) throw malformed();
    }
  }
  const [document] = stack;
  const root = document?.children[0];
  if (stack.length !== 1 || root === undefined || document?.children.length !== 1 || document.text.trim() !== "")
    throw malformed();
  return root;
}

function resolveReferences(text: string, malformed: () => Error): string {
  return text.replace(/&([^;&\s]{0,10});?/g, (whole, name: string) => {
    const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }[name];
    if (named !== undefined && whole.endsWith(";")) return named;
    const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name) ?? [];
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (!whole.endsWith(";") || !(code > 0 && code <= 0x10ffff)) throw malformed();
    return String.fromCodePoint(code);
  });
}

/** Refuses a document that says more than is understood. Throws `NotImplemented` with the name of the element. */
export function onlyChildren(element: XmlElement, known: readonly string[]): void {
  const unknown = element.children.find(({ name }) => !known.includes(name));
  if (unknown !== undefined)
    throw s3Error("NotImplemented", `The element ${unknown.name} of ${element.name} is not implemented here.`, {
      elements: { ArgumentName: unknown.name },
    });
}

/** The text of a child, or `undefined`. */
export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((c) => c.name === name)?.text;
}
