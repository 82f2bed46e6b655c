import { checkArgument } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { checkRedaction, type Piece, type Redacted, type RedactionOptions } from "./redact.ts";
import { jsonNumber, jsonOf, jsonString, walkJson } from "./redact-json.ts";
import { assembled, joinedPieces, namedWithin, nameLeft, piecesOf, type Written } from "./written-values.ts";

/** An event of a stream: the offsets of its lines, and of what stands behind `data:` in them. */
interface StreamEvent {
  readonly start: number;
  readonly end: number;
  /** What it is called by its `event:`. */
  readonly name: string;
  readonly data: readonly { readonly start: number; readonly end: number }[];
  /** What else it says: names, ids, comments, lines that nobody reads. */
  readonly other: readonly { readonly start: number; readonly end: number }[];
}

/** What goes on over events: the text of events without JSON, or what stands in the same place of their JSON. */
interface Channel {
  readonly options: RedactionOptions;
  readonly parts: { readonly event: number; readonly written: Written }[];
}

interface EventTexts {
  readonly events: readonly StreamEvent[];
  readonly channels: readonly Channel[];
  /** What no channel holds: names, numbers, values that their name says what they are. */
  readonly others: readonly (readonly Piece[])[];
}

/** A channel is over when so many events say nothing in it. */
const HOLD_BACK = 256;
/** What stands in more objects and lists goes on in no other event. */
const MOST_DEEP = 32;
/** What is held at most, in characters. */
const MOST_HELD = 16 << 20;

/**
 * Redacts an event stream (`text/event-stream`, WHATWG HTML section 9.2). Data that is JSON is redacted as JSON, all other fields as texts. What events say one behind the other in
 * the same place (their text, or a member of their JSON, apart by the events' names and by `index` members) is searched as one text too: a value that is cut into events is hidden in
 * each of them, as a part of its own, so that every event stays and is restored byte for byte.
 */
export function redactEvents(text: string, options: RedactionOptions): Redacted {
  checkRedaction(text, options);
  return assembled(text, [changesOf(text, readTexts(text, options))], options);
}

/**
 * The same for a stream that comes in chunks, however they are cut. An event goes on when `holdBack` characters (default 256) stand behind each of its texts, or the text has ended: it is searched
 * with as many before and behind it, so that what reaches over more than that on both sides is found by {@link redactAs} only.
 *
 * Throws as {@link redact}, and `validation_failed` when 16 Mi characters cannot go on.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactEventStream } from "@seneschal/governance";
 * async function* upstream() {
 *   yield "data: write to ada@exam\n\n";
 *   yield "data: ple.org now\n\n";
 * }
 * let redacted = "";
 * const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
 * for await (const events of redactEventStream(upstream(), options)) redacted += events;
 * console.log(redacted.includes("exam")); // false
 * ```
 */
export function redactEventStream(
  chunks: AsyncIterable<string>,
  options: RedactionOptions & { readonly holdBack?: number },
): AsyncGenerator<string> {
  checkArgument("options", options, "object");
  const { holdBack = HOLD_BACK, ...rest } = options;
  checkRedaction("", rest);
  checkArgument("options.holdBack", holdBack, "number");
  checkArgument("chunks", chunks, "object");
  return redactedStream(chunks, rest, holdBack);
}

async function* redactedStream(
  chunks: AsyncIterable<string>,
  options: RedactionOptions,
  holdBack: number,
): AsyncGenerator<string> {
  /** Events that have gone on and are still read with what follows, up to `from`, those that have not, and one that is not whole. */
  let held = "";
  let from = 0;
  let next = 1;
  for await (const chunk of chunks) {
    checkArgument("chunks", chunk, "string");
    held += chunk;
    if (held.length < next) continue;
    const whole = wholeEvents(held);
    const texts = readTexts(held.slice(0, whole), options);
    const { keepFrom, to } = settled(texts, from, holdBack);
    if (to > from) {
      yield assembled(held, [changesOf(held, texts)], options, from, to).text;
      held = held.slice(keepFrom);
      from = to - keepFrom;
    }
    if (held.length > MOST_HELD)
      throw governanceError("validation_failed", "text: an event, or what is read with it, is longer than 16 MiB", {
        field: "text",
      });
    // Half as much again, so that the work grows with the stream and not with its chunks.
    next = Math.ceil(held.length * 1.5);
  }
  if (held.length > from) yield assembled(held, [changesOf(held, readTexts(held, options))], options, from).text;
}

/** The end of the last event that is whole. A carriage return at the very end may be half of a line's end. */
function wholeEvents(text: string): number {
  let whole = 0;
  for (const match of text.matchAll(/(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?=[^\n]))/g)) whole = match.index + match[0].length;
  return whole;
}

/** Up to where events may go on, from `from` on, and the first one that is read with what follows them. */
function settled(
  { events, channels }: EventTexts,
  from: number,
  holdBack: number,
): { readonly keepFrom: number; readonly to: number } {
  let cut = events.length;
  for (const { parts } of channels) {
    if (events.length - 1 - (parts.at(-1)?.event ?? 0) >= holdBack) continue;
    /** Characters in later events than `event`, and in it and later ones. */
    let behind = 0;
    let upTo = 0;
    let event = events.length;
    for (const part of parts.toReversed()) {
      if (part.event < event) behind = upTo;
      event = part.event;
      if (behind >= holdBack) break;
      upTo += part.written.value.length;
      cut = Math.min(cut, event);
    }
  }
  const to = Math.max(from, cut === 0 ? 0 : (events[cut - 1]?.end ?? 0));
  let keep = cut;
  for (const { parts } of channels) {
    let before = 0;
    for (let i = parts.length - 1; i >= 0 && before < holdBack; i--) {
      const { event, written } = parts[i] as Channel["parts"][number];
      if (event >= cut) continue;
      if (cut - event > holdBack) break;
      before += written.value.length;
      keep = Math.min(keep, event);
    }
  }
  return { keepFrom: Math.min(to, events[keep]?.start ?? to), to };
}

/** What changes in a stream, in its order. */
function changesOf(text: string, { channels, others }: EventTexts): readonly Piece[] {
  const pieces = others.flat();
  for (const { options: under, parts } of channels) {
    const joined = parts.map(({ event, written }, i) => ({ written, alone: event !== parts[i - 1]?.event }));
    pieces.push(...joinedPieces(text, joined, under));
  }
  return pieces.filter(({ entity }) => entity !== undefined).sort((a, b) => a.start - b.start);
}

function readTexts(text: string, options: RedactionOptions): EventTexts {
  const events = eventsOf(text);
  const channels = new Map<string, Channel>();
  const others: (readonly Piece[])[] = [];
  const add = (key: string, under: RedactionOptions, event: number, written: Written): void => {
    if (written.value === "") return;
    const channel = channels.get(key) ?? { options: under, parts: [] };
    channels.set(key, channel);
    channel.parts.push({ event, written });
  };
  /** Names and numbers that hold nothing, which each event has again. */
  const clean = new Set<string>();
  const namesOf = namedWithin(options);
  for (const [number, event] of events.entries()) {
    for (const { start, end } of event.other) others.push(piecesOf(text, asItIs(text, start, end), options));
    const lines = event.data.map(({ start, end }) => text.slice(start, end));
    const data = lines.join("\n");
    const json = /^\s*[{["]/.test(data) ? jsonOf(data) : undefined;
    if (json === undefined) {
      const key = JSON.stringify([event.name]);
      for (const [i, { start, end }] of event.data.entries()) {
        const before = event.data[i - 1]?.end;
        if (before !== undefined) add(key, options, number, { value: "\n", at: () => before, write: (given) => given });
        add(key, options, number, asItIs(text, start, end));
      }
      continue;
    }
    /** Where the lines begin in the data. */
    const begins: number[] = [];
    for (const [i, line] of lines.entries()) begins.push(i === 0 ? 0 : (begins[i - 1] ?? 0) + (lines[i - 1] ?? line).length + 1);
    let line = 0;
    /** Where a place in the data stands: no text or number of JSON reaches over lines, and they are asked for in their order. */
    const at = (index: number): number => {
      while ((begins[line + 1] ?? Infinity) <= index) line++;
      return (event.data[line]?.start ?? 0) + index - (begins[line] ?? 0);
    };
    walkJson(
      data,
      (token, index) => {
        const string = jsonString(token, at(index));
        if (clean.has(token)) return string.value;
        const pieces = piecesOf(text, string, options);
        if (pieces.every(({ entity }) => entity === undefined)) clean.add(token);
        others.push(pieces);
        return nameLeft(pieces, options);
      },
      ({ token, index, name, around, depth, path }) => {
        const start = at(index);
        const string = token.startsWith('"') ? jsonString(token, start) : undefined;
        const under = namesOf(name, around, string?.value ?? token);
        if (string === undefined) {
          const number = JSON.stringify([token, under.hints, under.whole]);
          if (clean.has(number)) return;
          const pieces = jsonNumber(token, start, start + token.length, under);
          if (pieces.length === 0) clean.add(number);
          others.push(pieces);
        } else if (under.whole !== undefined || depth > MOST_DEEP) others.push(piecesOf(text, string, under));
        else add(JSON.stringify([event.name, placeOf(path(), json.value)]), under, number, string);
      },
    );
  }
  return { events, channels: [...channels.values()], others };
}

function asItIs(text: string, start: number, end: number): Written {
  return { value: text.slice(start, end), at: (i) => start + i, write: (value) => value };
}

/** Where a leaf stands: of the objects of a list those are the same that have the same `index`, which says which of several texts told by turns it is. */
function placeOf(path: readonly string[], root: unknown): readonly unknown[] {
  const place: unknown[] = [indexOf(root)];
  let value = root;
  for (const key of path) {
    const listed = Array.isArray(value);
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined;
    const index = indexOf(value);
    place.push(listed && index !== undefined ? { index } : { key, index });
  }
  return place;
}

function indexOf(value: unknown): number | string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "index")) return undefined;
  const { index } = value as { readonly index: unknown };
  return typeof index === "number" || typeof index === "string" ? index : undefined;
}

/** The events of a text, also one that the end cuts off. */
function eventsOf(text: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let event = { start: 0, name: "", data: [] as StreamEvent["data"][number][], other: [] as StreamEvent["other"][number][] };
  const ended = (end: number): void => {
    events.push({ ...event, end });
    event = { start: end, name: "", data: [], other: [] };
  };
  while (at < text.length) {
    const line = /\r\n|\r|\n/g;
    line.lastIndex = at;
    const match = line.exec(text);
    const end = match?.index ?? text.length;
    const next = match === null ? text.length : line.lastIndex;
    const colon = text.slice(at, end).indexOf(":");
    const field = colon < 0 ? text.slice(at, end) : text.slice(at, at + colon);
    const value = at + colon + (text.startsWith(" ", at + colon + 1) ? 2 : 1);
    if (end === at) ended(next);
    else if (field === "data") event.data.push({ start: colon < 0 ? end : value, end });
    else {
      const known = colon >= 0 && ["event", "id", "retry", ""].includes(field);
      event.other.push({ start: known ? value : at, end });
      if (known && field === "event") event.name = text.slice(value, end);
    }
    at = next;
  }
  if (event.start < text.length) ended(text.length);
  return events;
}
