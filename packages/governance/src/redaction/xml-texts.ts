import { governanceError } from "../errors.ts";
import type { Written } from "./written-values.ts";

/** An element that is open. */
export interface XmlElement {
  /** Without its prefix. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, XmlText>;
  /** From the first character of its first tag to behind the last one of its last. */
  readonly start: number;
  readonly end: number;
  /** Text stands in it that is not in one of its elements. */
  readonly hasText: boolean;
  /** The end of its first tag, before `>` or `/>`. */
  readonly tagEnd: number;
  readonly parent: XmlElement | undefined;
  /** How many elements of its name stand before it in its parent. */
  readonly place: number;
}

/** What is written in a place of XML: the text of an element or, where it has a name, of an attribute; of what nobody is shown nothing but its place. */
export interface XmlText extends Written {
  readonly start: number;
  readonly end: number;
  readonly attribute?: string;
  /** Goes on with the text before it: nothing but CDATA's marks, comments and processing instructions are between them. */
  readonly goesOn?: true;
  /** A comment or a processing instruction, from its first character to its last. */
  readonly unshown?: true;
  /** The element that it stands in, or whose attribute it is; none around what stands beside the root. */
  readonly element: XmlElement | undefined;
}

type OpenElement = {
  -readonly [Member in keyof XmlElement]: Member extends "parent"
    ? OpenElement | undefined
    : Member extends "attributes"
      ? Map<string, XmlText>
      : XmlElement[Member];
} & {
  /** How many elements of each name were in it so far. */
  children?: Map<string, number>;
};

const NO_ATTRIBUTES = new Map<string, XmlText>();

const NAME = "[\\p{L}_][\\p{L}\\p{N}\\p{M}.:_-]*";
const MARKUP = new RegExp(
  `<\\?[\\s\\S]*?\\?>|<!--[\\s\\S]*?-->|<!\\[CDATA\\[[\\s\\S]*?\\]\\]>|</(${NAME})\\s*>|<(${NAME})((?:\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`,
  "yu",
);
const DECLARATION =
  /^\ufeff?<\?xml\s+version\s*=\s*(?:"1\.[01]"|'1\.[01]')(?:\s+encoding\s*=\s*(?:"(?:utf-8|us-ascii)"|'(?:utf-8|us-ascii)'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>/i;
const ATTRIBUTE = new RegExp(`(${NAME})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, "gu");
/** A reference, a character as Office Open XML escapes it (ECMA-376, ST_Xstring), or a unit that stands for itself. */
const UNIT = /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));|_x([0-9A-Fa-f]{4})_|[\s\S]/g;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const MOST_DEEP = 256;

/**
 * The texts of a part of XML in their order: of elements, attributes and CDATA, and where comments and processing instructions stand. No document type and no entities of its own: what would mean something else to
 * another reader is refused. Throws `validation_failed` with `part`.
 */
export function* xmlTexts(part: string, xml: string): Generator<XmlText> {
  const refuse = (why: string): never => {
    throw governanceError("validation_failed", `${part}: ${why}`, { field: part, reason: why });
  };
  const declared = DECLARATION.exec(xml)?.[0].length ?? 0;
  if (declared === 0 && /^\ufeff?<\?xml\s/.test(xml)) refuse("is not declared as XML in UTF-8");
  let element: OpenElement | undefined;
  let depth = 0;
  let at = 0;
  let goesOn = false;
  const textIn = (start: number, end: number, plain = false): XmlText | undefined => {
    if (start === end || (xml.slice(start, end).trim() === "" && element?.name !== "t" && !goesOn)) return undefined;
    const text = new WrittenXml(xml, start, end, element, refuse, { plain, goesOn });
    goesOn = true;
    if (element !== undefined) element.hasText = true;
    return text;
  };
  for (let next = xml.indexOf("<"); next >= 0; next = xml.indexOf("<", at)) {
    MARKUP.lastIndex = next;
    const match = MARKUP.exec(xml) ?? refuse("is no well-formed XML");
    const between = textIn(at, match.index);
    if (between !== undefined) {
      if (element === undefined && xml.slice(at, match.index).trim() !== "\ufeff") refuse("is no well-formed XML");
      yield between;
    }
    const [markup, closed, opened, written = "", empty] = match;
    if ((closed ?? opened) !== undefined) goesOn = false;
    at = match.index + markup.length;
    if (markup.startsWith("<![")) {
      const text = textIn(match.index + "<![CDATA[".length, at - "]]>".length, true);
      if (text !== undefined) yield text;
    } else if (markup.startsWith("<!") || markup.startsWith("<?")) {
      if (at > declared) yield new WrittenXml(xml, match.index, at, element, refuse, { unshown: true });
    } else if (closed !== undefined) {
      const ended: OpenElement = element ?? refuse("is no well-formed XML");
      if (ended.name !== localName(closed)) refuse("is no well-formed XML");
      ended.end = at;
      delete ended.children;
      element = ended.parent;
      depth--;
    } else if (opened !== undefined) {
      const attributes = written === "" ? NO_ATTRIBUTES : new Map<string, XmlText>();
      const name = localName(opened);
      const next: OpenElement = {
        name,
        attributes,
        start: match.index,
        end: at,
        hasText: false,
        tagEnd: match.index + 1 + opened.length + written.length,
        parent: element,
        place: placeIn(element, name),
      };
      const from = match.index + 1 + opened.length;
      if (written !== "")
        for (const { 0: whole, 1: attribute = "", 2: double, 3: single = "", index } of written.matchAll(ATTRIBUTE)) {
          const end = from + index + whole.length - 1;
          const text = new WrittenXml(xml, end - (double ?? single).length, end, next, refuse, { attribute });
          attributes.set(attribute, text);
          yield text;
        }
      if (empty === "/") continue;
      if (++depth > MOST_DEEP) refuse("nests too deep");
      element = next;
    }
  }
  if (element !== undefined || xml.slice(at).trim() !== "") refuse("is no well-formed XML");
}

/** How many elements of a name stand in an element before one that comes now. */
function placeIn(element: OpenElement | undefined, name: string): number {
  if (element === undefined) return 0;
  element.children ??= new Map();
  const place = element.children.get(name) ?? 0;
  element.children.set(name, place + 1);
  return place;
}

class WrittenXml implements XmlText {
  readonly keepsValue = true;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly element: XmlElement | undefined;
  declare readonly attribute?: string;
  declare readonly goesOn?: true;
  declare readonly unshown?: true;
  /** In CDATA nothing stands for anything else. */
  readonly #plain: boolean;
  /** Where each unit of the value is written, where some are written in another way than they read. */
  readonly #starts: readonly number[] | undefined;

  constructor(
    xml: string,
    start: number,
    end: number,
    element: XmlElement | undefined,
    refuse: (why: string) => never,
    {
      plain = false,
      goesOn = false,
      unshown = false,
      attribute,
    }: {
      readonly plain?: boolean;
      readonly goesOn?: boolean;
      readonly unshown?: boolean;
      readonly attribute?: string;
    },
  ) {
    this.start = start;
    this.end = end;
    this.element = element;
    this.#plain = plain;
    if (attribute !== undefined) this.attribute = attribute;
    if (goesOn) this.goesOn = true;
    if (unshown) this.unshown = true;
    const raw = unshown ? "" : xml.slice(start, end);
    const isAsItReads = plain || !/[<&]|_x[0-9A-Fa-f]{4}_/.test(raw);
    this.#starts = isAsItReads ? undefined : [];
    this.value = isAsItReads ? raw : readIn(raw, start, this.#starts as number[], refuse);
  }

  at(index: number): number {
    return this.#starts === undefined ? this.start + index : (this.#starts[index] ?? this.end);
  }

  write(text: string): string {
    return this.#plain ? text.replaceAll("]]>", "]]]]><![CDATA[>") : escaped(text);
  }
}

/** What is written in an element or an attribute, and where each unit of it stands. */
function readIn(raw: string, start: number, starts: number[], refuse: (why: string) => never): string {
  if (raw.includes("<")) refuse("is no well-formed XML");
  let value = "";
  for (const { 0: unit, 1: decimal, 2: hex, 3: name, 4: unitCode, index } of raw.matchAll(UNIT)) {
    const code = Number.parseInt(decimal ?? hex ?? unitCode ?? "", decimal === undefined ? 16 : 10);
    const said = Number.isNaN(code)
      ? name === undefined
        ? unit
        : NAMED[name]
      : code > 0x10ffff
        ? undefined
        : String.fromCodePoint(code);
    if (said === undefined || unit === "&") refuse("has a reference that is not read");
    for (let i = 0; i < (said ?? "").length; i++) starts.push(start + index);
    value += said;
  }
  return value;
}

/** A text as it stands in an element or an attribute. */
function escaped(text: string): string {
  return text
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
