import { Surroundings, termOf } from "../lexicon.ts";
import type { Around, NamedColumn, Stretch } from "./named-column.ts";
import { Pairs } from "./pairs.ts";

const NAME = /(?:[\p{L}_][\p{L}\p{N}_.-]{0,63}:)?([\p{L}_][\p{L}\p{N}_.-]{0,63})/uy;
const ATTRIBUTE = /\s+(?:[\p{L}_@][\p{L}\p{N}_.-]{0,63}:)?([\p{L}_@][\p{L}\p{N}_.-]{0,63})(?:\s*=\s*(["']|[^\s"'<>=]{1,300}))?/uy;
const CLOSED = /\s*>/y;
const OPENED = /\s*(\/?)>/y;
/** Elements of HTML that have no end. */
const EMPTY = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;
/** Elements of HTML whose text tells of what their name says, and is not it. */
const LABELS = /^(?:a|button|form|label|th|option|fieldset|legend|summary|slot|map|iframe)$/i;
const MOST_ATTRIBUTES = 64;
/** Elements in one another that are told apart. */
const DEEPEST = 64;

/** Elements of one name in elements of one name, and so on outward. */
class Kind implements Around {
  readonly name: string;
  readonly outer: Kind | undefined;
  readonly depth: number;
  /** Some element of it has an end: what has none is a word in angle brackets. */
  ended = false;
  readonly values: Stretch[] = [];
  readonly #members = new Map<string, Kind>();
  readonly #attributes = new Map<string, Kind>();
  #beside: Surroundings | undefined;

  constructor(name: string, outer?: Kind) {
    this.name = name;
    this.outer = outer;
    this.depth = outer === undefined ? 0 : outer.depth + 1;
  }

  member(name: string): Kind {
    const known = this.#members.get(name) ?? new Kind(name, this);
    this.#members.set(name, known);
    return known;
  }

  attribute(name: string): Kind {
    const known = this.#attributes.get(name) ?? new Kind(name, this);
    this.#attributes.set(name, known);
    return known;
  }

  /** What its members and attributes belong to, and their names. */
  get inside(): Surroundings {
    this.#beside ??= new Surroundings(this.name, [...this.#members.keys(), ...this.#attributes.keys()]);
    return this.#beside;
  }

  *columns(): Generator<NamedColumn> {
    const { name, values, outer } = this;
    if (values.length > 0 && outer !== undefined) {
      let around: Around | undefined;
      const ended: Kind[] = [];
      for (let at: Kind | undefined = outer; at !== undefined; at = at.outer) if (at.ended) ended.push(at);
      for (const kind of ended.reverse()) around = { name: kind.name, outer: around };
      yield { name, beside: outer.inside, around, values };
    }
    // What an attribute tells is not what its element holds.
    for (const { name, values } of this.#attributes.values()) yield { name, beside: this.inside, values };
    for (const member of this.#members.values()) yield* member.columns();
  }
}

/** An element that is open. */
class Element {
  readonly name: string;
  readonly kind: Kind;
  /** What its attributes call its text. */
  called: string | undefined;
  readonly texts: Stretch[] = [];
  readonly pairs = new Pairs();
  readonly members: { readonly name: string; readonly texts: readonly Stretch[] }[] = [];

  constructor(name: string, kind: Kind) {
    this.name = name;
    this.kind = kind;
  }

  settle(): void {
    for (const { name, texts } of this.members) this.kind.member(this.pairs.nameOf(name) ?? name).values.push(...texts);
    this.members.length = 0;
  }
}

/**
 * The values of XML and HTML by the names of their elements and attributes. An element that has no end names nothing; one of which a sibling or an attribute says what it holds
 * (`<property name="ssn" value="..."/>`) is called by that. Takes time linear in the text.
 */
export function* markupColumns(text: string): Generator<NamedColumn> {
  if (!text.includes("</") && !text.includes("/>")) return;
  const root = new Element("", new Kind(""));
  const open = [root];
  const nextOf = finder(text);
  const inside = (): Element => open[open.length - 1] ?? root;
  const close = (name: string): void => {
    let at = open.length - 1;
    while (at > 0 && open[at]?.name !== name) at--;
    if (at === 0) return;
    const element = open[at] as Element;
    // What stands in an element without an end is of the one around it.
    for (const other of open.splice(at + 1)) {
      other.settle();
      element.texts.push(...other.texts);
    }
    open.pop();
    leave(text, element, inside());
  };
  let from = 0;
  const textUntil = (to: number): void => {
    const stretch = trimmed(text, from, to);
    if (stretch !== undefined) inside().texts.push(stretch);
  };
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", Math.max(at + 1, from))) {
    if (text.startsWith("<!--", at)) {
      const end = nextOf("-->", at + 4);
      if (end < 0) continue;
      textUntil(at);
      from = end + 3;
    } else if (text.startsWith("<![CDATA[", at)) {
      const end = nextOf("]]>", at + 9);
      if (end < 0) continue;
      textUntil(at);
      const stretch = trimmed(text, at + 9, end);
      if (stretch !== undefined) inside().texts.push(stretch);
      from = end + 3;
    } else if (text[at + 1] === "/") {
      const name = matchAt(NAME, text, at + 2);
      const end = name === null ? null : matchAt(CLOSED, text, NAME.lastIndex);
      if (name === null || end === null) continue;
      textUntil(at);
      from = CLOSED.lastIndex;
      close(name[1] ?? "");
    } else {
      const name = matchAt(NAME, text, at + 1)?.[1];
      if (name === undefined) continue;
      const { kind } = inside();
      const element = new Element(name, kind.depth < DEEPEST ? kind.member(name) : kind);
      const end = attributesOf(element, text, NAME.lastIndex, nextOf);
      if (end === undefined) continue;
      textUntil(at);
      from = end.at;
      if (end.isWhole || EMPTY.test(name)) leave(text, element, inside());
      else open.push(element);
    }
  }
  for (const element of open.reverse()) element.settle();
  yield* root.kind.columns();
}

/** What an element that has ended says where it stands. */
function leave(text: string, element: Element, parent: Element): void {
  const { name, texts, called, kind, pairs } = element;
  kind.ended = true;
  element.settle();
  parent.pairs.addConcept(name, pairs);
  const [only] = texts;
  if (only !== undefined && texts.length === 1) parent.pairs.add(name, text.slice(...only));
  if (texts.length > 0) parent.members.push({ name: called ?? name, texts: texts.splice(0) });
}

/** Reads the attributes of an element from `from` on. `undefined`: it is none. */
function attributesOf(
  element: Element,
  text: string,
  from: number,
  nextOf: ReturnType<typeof finder>,
): { readonly at: number; readonly isWhole: boolean } | undefined {
  const pairs = new Pairs();
  const { name: called } = element;
  const found: { readonly name: string; readonly stretch: Stretch }[] = [];
  let at = from;
  for (let i = 0; i < MOST_ATTRIBUTES; i++) {
    const attribute = matchAt(ATTRIBUTE, text, at);
    if (attribute === null) break;
    const [, name = "", value] = attribute;
    at = ATTRIBUTE.lastIndex;
    if (value === undefined) continue;
    const isQuoted = value === '"' || value === "'";
    const end = isQuoted ? nextOf(value, at) : at;
    if (end < 0) return undefined;
    const stretch = trimmed(text, isQuoted ? at : at - value.length, end);
    if (isQuoted) at = end + 1;
    if (stretch === undefined) continue;
    pairs.add(name, text.slice(...stretch));
    found.push({ name, stretch });
  }
  const end = matchAt(OPENED, text, at);
  if (end === null) return undefined;
  const name = found.length === 0 || LABELS.test(called) || termOf(called) !== undefined ? undefined : pairs.nameOf("value");
  if (name !== undefined && termOf(name) !== undefined) element.called = name;
  for (const { name, stretch } of found) {
    if (name === "value") element.texts.push(stretch);
    else element.kind.attribute(name).values.push(stretch);
  }
  return { at: OPENED.lastIndex, isWhole: end[1] === "/" };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Where a sign stands next, for places that ascend: each stretch of the text is looked through once for each sign. */
function finder(text: string): (sign: string, from: number) => number {
  const known = new Map<string, number>();
  return (sign, from) => {
    const before = known.get(sign);
    if (before !== undefined && (before < 0 || before >= from)) return before;
    const at = text.indexOf(sign, from);
    known.set(sign, at);
    return at;
  };
}

/** A stretch without blanks around it; `undefined` where nothing is left. */
function trimmed(text: string, from: number, to: number): Stretch | undefined {
  let [start, end] = [from, to];
  while (start < end && isBlank(text, start)) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  return start < end ? [start, end] : undefined;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13) || code === 160;
}
