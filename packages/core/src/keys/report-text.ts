import { checkArgument, escapeHtml, type Json } from "@seneschal/kernel";
import { csvRow } from "./export-text.ts";
import type { ReportFacts } from "./report.ts";

/**
 * JSON whose lists may be read while it is written, and whose figures may be known only when they are reached: what a report
 * says, without holding it.
 */
type Growing = Json | AsyncIterable<Growing> | Later | readonly Growing[] | GrowingObject;

/** A figure that stands when everything before it was written. */
type Later = () => Growing | Promise<Growing>;

export interface GrowingObject {
  readonly [field: string]: Growing;
}

const isStream = (value: Growing): value is AsyncIterable<Growing> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** An object that is no list of any kind. */
const isRecord = (value: Growing): value is GrowingObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isStream(value);

/** Whether nothing in it grows. */
function isWhole(value: Growing): value is Json {
  if (typeof value === "function") return false;
  if (typeof value !== "object" || value === null) return true;
  return !isStream(value) && Object.values(value as GrowingObject).every(isWhole);
}

/** The items of a list, whether it grows or not. */
async function* itemsOf(list: AsyncIterable<Growing> | readonly Growing[]): AsyncGenerator<Growing> {
  yield* list;
}

/** What a report is written in. */
export type ReportFormat = "json" | "csv" | "html";

/** What seals a report: SHA-256 in hex over all before its last line, signed by a key of the organisation, base64. */
export interface ReportSignature {
  readonly digest: string;
  readonly digest_signature: string;
  readonly digest_key: string;
}

/**
 * A report as one thing, in the order in which it is written: what it says about itself, its data, and when that was complete.
 *
 * @example
 * ```ts
 * import { reportDocument, reportFacts, reportPeriod } from "@seneschal/core/keys";
 * const period = reportPeriod({ type: "summary" }, 0);
 * const facts = reportFacts({ id: "r1", type: "summary", org_id: "acme", generated_by: "ada", period, log_size: 9 }, 0);
 * console.log(Object.keys(reportDocument(facts, {}, () => "")).slice(-3)); // [ 'log_size', 'data', 'completed_at' ]
 * ```
 */
export function reportDocument(facts: ReportFacts, data: GrowingObject, completedAt: () => string): GrowingObject {
  checkArgument("facts", facts, "object");
  checkArgument("data", data, "object");
  checkArgument("completedAt", completedAt, "function");
  const { archived, ...rest } = facts;
  return {
    ...rest,
    period: { ...facts.period },
    ...(archived && { archived: { ...archived } }),
    data,
    completed_at: completedAt,
  };
}

/**
 * The text of a report but for its last line, made while it is read: nothing but the piece at hand is held.
 *
 * @example
 * ```ts
 * import { reportText } from "@seneschal/core/keys";
 * let text = "";
 * for await (const piece of reportText("csv", { id: "r1", data: { total_events: 2 } })) text += piece;
 * console.log(JSON.stringify(text)); // "path,value\r\nid,r1\r\ndata.total_events,2\r\n"
 * ```
 */
export function reportText(format: ReportFormat, report: GrowingObject): AsyncIterable<string> {
  checkArgument("report", report, "object");
  return bodies[format](report);
}

const bodies: Readonly<Record<ReportFormat, (report: GrowingObject) => AsyncIterable<string>>> = {
  async *json(report) {
    yield "{";
    yield* fieldsText(report);
    yield "\n";
  },
  csv: csvText,
  html: (report) => htmlText(`${String(report["type"])} of ${String(report["org_id"])}`, report),
};

/**
 * The last line of a report, without which there is none: what seals the bytes before it.
 *
 * @example
 * ```ts
 * import { reportSealLine } from "@seneschal/core/keys";
 * const signed = { digest: "00", digest_signature: "c2ln", digest_key: "a2V5" };
 * console.log(reportSealLine("csv", signed).trim()); // seal,00 c2ln a2V5
 * ```
 */
export function reportSealLine(format: ReportFormat, signed: ReportSignature): string {
  checkArgument("signed", signed, "object");
  return lastLines[format](signed);
}

const lastLines: Readonly<Record<ReportFormat, (signed: ReportSignature) => string>> = {
  json: (signed) => `,${JSON.stringify(signed).slice(1)}\n`,
  csv: ({ digest, digest_signature, digest_key }) => csvRow(["seal", `${digest} ${digest_signature} ${digest_key}`]),
  html: ({ digest, digest_signature, digest_key }) =>
    `<footer>SHA-256 of all lines above <code>${digest}</code>, signed <code>${escapeHtml(digest_signature)}</code> by <code>${escapeHtml(digest_key)}</code></footer></body></html>\n`,
};

/**
 * What a key of the organisation signs of a report.
 *
 * @example
 * ```ts
 * import { reportSealText } from "@seneschal/core/keys";
 * console.log(JSON.stringify(reportSealText("00"))); // "seneschal/compliance-report/v2\u000000"
 * ```
 */
export function reportSealText(digest: string): string {
  checkArgument("digest", digest, "string");
  return `seneschal/compliance-report/v2\0${digest}`;
}

/** What grows as rows `path,value`, RFC 4180: every figure of the JSON is one row, in its order. */
async function* csvText(value: Growing): AsyncGenerator<string> {
  yield "path,value\r\n";
  yield* rows("", value);
}

async function* rows(path: string, value: Growing): AsyncGenerator<string> {
  if (typeof value === "function") {
    yield* rows(path, await value());
    return;
  }
  let empty = true;
  if (isRecord(value)) {
    for (const [field, item] of Object.entries(value)) {
      yield* rows(path === "" ? field : `${path}.${field}`, item);
      empty = false;
    }
  } else if (Array.isArray(value) || isStream(value)) {
    let at = 0;
    for await (const item of itemsOf(value)) {
      yield* rows(`${path}.${at}`, item);
      at += 1;
      empty = false;
    }
  } else {
    yield csvRow([path, value === null ? "" : String(value)]);
    return;
  }
  if (empty) yield csvRow([path, "none"]);
}

/** What grows, as JSON text in the order of its fields; a line for each item of a list that is read meanwhile. */
async function* jsonText(value: Growing): AsyncGenerator<string> {
  if (isWhole(value)) yield JSON.stringify(value);
  else if (typeof value === "function") yield* jsonText(await value());
  else if (isRecord(value)) {
    yield "{";
    yield* fieldsText(value);
    yield "}";
  } else {
    let before = "[\n";
    for await (const item of itemsOf(value)) {
      yield before;
      yield* jsonText(item);
      before = ",\n";
    }
    yield before === "[\n" ? "[]" : "\n]";
  }
}

/** The fields of an object without its braces, so that the writer can add others behind them. */
async function* fieldsText(object: GrowingObject): AsyncGenerator<string> {
  let before = "";
  for (const [field, value] of Object.entries(object)) {
    yield `${before}${JSON.stringify(field)}:`;
    yield* jsonText(value);
    before = ",";
  }
}

/**
 * A report as one self-contained page that prints well, without its end; nothing in it is loaded or run. Facts stand in two
 * columns, lists of things in tables, one row each; every part of the data has its heading; figures that are known last
 * stand last.
 */
async function* htmlText(title: string, report: GrowingObject): AsyncGenerator<string> {
  const { data, ...facts } = report;
  const parts = data !== undefined && isRecord(data) ? data : {};
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#111;background:#fff}table{border-collapse:collapse;margin:.25rem 0}
th,td{border:1px solid #999;padding:.25rem .5rem;text-align:left;vertical-align:top}th{background:#eee}code{overflow-wrap:anywhere}
thead{display:table-header-group}h2{margin:1.5rem 0 .25rem;font-size:1.1rem}h3{margin:.75rem 0 .25rem;font-size:1rem}section{border-left:3px solid #999;padding-left:1rem;margin:.5rem 0 1.5rem}tr{break-inside:avoid}</style></head>
<body><h1>${escapeHtml(title)}</h1>${factsHtml(facts)}`;
  const figures = plain(parts);
  if (Object.keys(figures).length > 0) yield `<h2>Figures</h2>${html(figures)}`;
  for (const [key, value] of Object.entries(parts)) {
    if (typeof value !== "object" || value === null) continue;
    yield `<h2>${label(key)}</h2>`;
    yield* partHtml(value);
    yield "\n";
  }
  const last: Record<string, Json> = {};
  for (const [key, value] of [...Object.entries(parts), ...Object.entries(facts)]) {
    if (typeof value === "function") last[key] = (await value()) as Json;
  }
  if (Object.keys(last).length > 0) yield `<h2>In all</h2>${html(last)}\n`;
}

/** The fields that are one figure each and are known. */
function plain(record: GrowingObject): Record<string, Json> {
  const known = Object.entries(record).filter(([, value]) => value === null || !["object", "function"].includes(typeof value));
  return Object.fromEntries(known) as Record<string, Json>;
}

/** The fields that stand at once, those of objects among them. */
function factsHtml(record: GrowingObject): string {
  const known = Object.entries(record).filter(([, value]) => isWhole(value) && !Array.isArray(value));
  return html(Object.fromEntries(known) as Record<string, Json>);
}

async function* partHtml(value: Growing): AsyncGenerator<string> {
  if (Array.isArray(value) || isStream(value)) yield* listHtml(itemsOf(value));
  else if (isWhole(value)) yield html(value);
  else if (isRecord(value)) yield* sectionHtml(value);
}

/**
 * Things of one kind are a table with a column for each field, a new one where the fields change; one that holds lists of others is a
 * section of its own.
 */
async function* listHtml(items: AsyncIterable<Growing>): AsyncGenerator<string> {
  let columns: readonly string[] = [];
  let count = 0;
  const end = (): string => (columns.length === 0 ? "" : "</tbody></table>");
  for await (const item of items) {
    count += 1;
    const fields = isRecord(item) ? Object.keys(item) : [];
    if (fields.length > 0 && isRecord(item) && isWhole(item) && !Object.values(item).some(holdsThings)) {
      if (fields.join() !== columns.join()) {
        const head = fields.map((field) => `<th scope="col">${label(field)}</th>`).join("");
        yield `${end()}<table><thead><tr>${head}</tr></thead><tbody>`;
        columns = fields;
      }
      yield `<tr>${Object.values(item as Record<string, Json>)
        .map((cell) => `<td>${html(cell)}</td>`)
        .join("")}</tr>`;
      continue;
    }
    yield end();
    columns = [];
    if (isRecord(item)) yield* sectionHtml(item);
    else if (isWhole(item)) yield `<p>${html(item)}</p>`;
  }
  yield end();
  if (count === 0) yield "none";
}

const holdsThings = (value: Growing): boolean => Array.isArray(value) && value.some((item) => isRecord(item as Growing));

async function* sectionHtml(item: GrowingObject): AsyncGenerator<string> {
  yield `<section>${factsHtml(item)}`;
  for (const [key, value] of Object.entries(item)) {
    if (!Array.isArray(value) && !isStream(value)) continue;
    yield `<h3>${label(key)}</h3>`;
    yield* listHtml(itemsOf(value));
  }
  yield "</section>";
}

function html(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : (value as readonly Json[]).map(html).join(", ");
  if (typeof value !== "object" || value === null) return escapeHtml(value === null ? "" : String(value));
  const rows = Object.entries(value).map(([key, item]) => `<tr><th scope="row">${label(key)}</th><td>${html(item)}</td></tr>`);
  return rows.length === 0 ? "none" : `<table>${rows.join("")}</table>`;
}

/** `last_access` as `Last access`; the name of an event as it is. */
function label(key: string): string {
  if (key.includes(".")) return escapeHtml(key);
  const words = key.replaceAll("_", " ");
  return escapeHtml(words.charAt(0).toUpperCase() + words.slice(1));
}
