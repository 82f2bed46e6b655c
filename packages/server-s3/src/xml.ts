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
    /[&<>"']|[\p{Cc}\uFFFE\uFFFF]/gu,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" })[c] ?? `&#x${c.charCodeAt(0).toString(16)};`,
  );
}

/**
 * What an element of a document holds: text, a boolean, an integer, or elements, and by `@name` an attribute; `unbuilt` is S3's and means
 * nothing here.
 */
export type XmlForm = "text" | "boolean" | "integer" | "unbuilt" | { readonly [name: string]: XmlForm | XmlList };

/** An element that may stand more than once. */
export interface XmlList {
  readonly each: XmlForm;
}

/** An element that its form fits: its text, and its children in order. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** Something in the way of an element, which its place in the document may still not allow. */
interface RawElement extends XmlElement {
  readonly attributes: readonly (readonly [string, string])[];
  readonly children: readonly RawElement[];
}

/**
 * Reads a document whose elements are those of its form and no others, each once unless it is a list, in the namespace of S3 or in none.
 * Elements alone stand beside elements. No DTD, no entities but the five of XML and character references, at most eight levels. Throws
 * `MalformedXML`; `NotImplemented` for an element that S3 knows there and this gateway does not, which is named.
 */
export function readXml(source: string, name: string, form: XmlForm): XmlElement {
  const root = parseXml(source);
  if (root.name !== name) throw malformed(`expected ${name}`);
  check(root, form);
  return root;
}

function malformed(text: string) {
  return s3Error("MalformedXML", text);
}

const values = { boolean: /^(?:true|false)$/i, integer: /^-?(?:0|[1-9]\d{0,14})$/ };

function check(element: RawElement, form: XmlForm): void {
  const { name, text, attributes, children } = element;
  if (form === "unbuilt")
    throw s3Error("NotImplemented", `The element ${name} is not implemented here.`, { elements: { ArgumentName: name } });
  for (const [attribute, value] of attributes) {
    // A prefix that is declared names nothing here: no element has one.
    const known =
      attribute === "xmlns"
        ? value === "" || value === namespace
        : attribute.startsWith("xmlns:") || (typeof form === "object" && Object.hasOwn(form, `@${attribute}`));
    if (!known) throw malformed(`the attribute ${attribute} of ${name} is not one of the document`);
  }
  if (typeof form === "string") {
    if (children.length > 0) throw malformed(`${name} holds text alone`);
    if (form !== "text" && !values[form].test(text.trim())) throw malformed(`${name} is no ${form}`);
    return;
  }
  if (text.trim() !== "") throw malformed(`${name} holds elements alone`);
  const seen = new Set<string>();
  for (const child of children) {
    const allowed = Object.hasOwn(form, child.name) ? form[child.name] : undefined;
    if (allowed === undefined) throw malformed(`${child.name} is not an element of ${name}`);
    const each = typeof allowed === "object" && "each" in allowed ? (allowed as XmlList).each : undefined;
    if (each === undefined && seen.has(child.name)) throw malformed(`${child.name} of ${name} is there twice`);
    seen.add(child.name);
    check(child, each ?? (allowed as XmlForm));
  }
}

/** What is well-formed XML, of the small documents that S3 clients send. Throws `MalformedXML`. */
export function parseXml(source: string): RawElement {
  const broken = () => malformed("the XML is not well-formed");
  const token =
    /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
  interface Open extends RawElement {
    text: string;
    readonly children: RawElement[];
  }
  const opened = (name: string, attributes: string): Open => {
    const pairs = [...attributes.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
      ([, key = "", double, single]) => [key, resolveReferences(double ?? single ?? "", broken)] as const,
    );
    if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw broken();
    return { name, text: "", attributes: pairs, children: [] };
  };
  const stack: Open[] = [opened("", "")];
  const text = source.replace(/^\uFEFF/, "").trim();
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    const top = stack.at(-1);
    if (match === null || top === undefined) throw broken();
    const [, cdata, closing, name, attributes = "", empty, characters] = match;
    if (cdata !== undefined) top.text += plain(cdata, broken);
    else if (characters !== undefined) top.text += resolveReferences(characters, broken);
    else if (name !== undefined && closing === "/") {
      const parent = stack.at(-2);
      if (top.name !== name || parent === undefined || attributes !== "" || empty === "/") throw broken();
      stack.pop();
      parent.children.push(top);
    } else if (name !== undefined) {
      if (empty === "/") top.children.push(opened(name, attributes));
      else stack.push(opened(name, attributes));
      if (stack.length > 9) throw broken();
    }
  }
  const [document] = stack;
  const root = document?.children[0];
  if (stack.length !== 1 || root === undefined || document?.children.length !== 1 || document.text.trim() !== "") throw broken();
  return root;
}

/** Text without U+0000 and lone surrogates, which no store keeps. */
function plain(text: string, broken: () => Error): string {
  if (text.includes("\0") || /\p{Surrogate}/u.test(text)) throw broken();
  return text;
}

function resolveReferences(text: string, broken: () => Error): string {
  const resolved = text.replace(/&([^;&\s]{0,10});?/g, (whole, name: string) => {
    const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }[name];
    if (named !== undefined && whole.endsWith(";")) return named;
    const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name) ?? [];
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (!whole.endsWith(";") || !(code > 0 && code <= 0x10ffff)) throw broken();
    return String.fromCodePoint(code);
  });
  return plain(resolved, broken);
}

/** The text of a child, or `undefined`. */
export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((c) => c.name === name)?.text;
}

/** What a child of the form `boolean` says; not there: false. */
export function childFlag(element: XmlElement, name: string): boolean {
  return childText(element, name)?.trim().toLowerCase() === "true";
}
