import { createHash } from "node:crypto";
import { type ReportFacts, timestamp } from "@seneschal/core/keys";
import type { Json } from "@seneschal/kernel";
import { escapeHtml } from "../../../platform/index.ts";
import { base64, type Call, utf8 } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { chunks, csvField } from "../audit-views.ts";
import { type ReportSeal, reportSeals } from "../collections.ts";
import { type Growing, type GrowingObject, isRecord, isStream, isWhole, itemsOf } from "./figures.ts";

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
    yield csvRow(path, value === null ? "" : String(value));
    return;
  }
  if (empty) yield csvRow(path, "none");
}

/** One row. */
function csvRow(path: string, value: string): string {
  return `${csvField(path)},${csvField(value)}\r\n`;
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
    if (isRecord(item) && isWhole(item) && !Object.values(item).some(holdsThings)) {
      const fields = Object.keys(item);
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

type Format = ReportSeal["format"];
type Signed = Pick<ReportSeal, "digest" | "digest_signature" | "digest_key">;

/**
 * The bytes of a report, made while they are taken: nothing but the piece at hand is held. The last line holds the SHA-256 of all
 * bytes before it, signed with the organisation's key; the same stays behind as a {@link ReportSeal}, in one commit with its
 * audit event. A reader who does not see a last line has no report.
 */
export async function* reportBytes(
  services: PartnerServices,
  call: Call,
  facts: ReportFacts,
  data: GrowingObject,
  format: Format,
): AsyncGenerator<Uint8Array> {
  let completed_at = "";
  const { archived, ...rest } = facts;
  const whole: GrowingObject = {
    ...rest,
    period: { ...facts.period },
    ...(archived && { archived: { ...archived } }),
    data,
    completed_at: () => {
      completed_at = timestamp(services.clock.now());
      return completed_at;
    },
  };
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of chunks(bodies[format](whole))) {
    hash.update(piece);
    size += piece.length;
    yield piece;
  }
  const digest = hash.digest("hex");
  const signed = await services.transact({ ...call, now: Date.parse(completed_at) }, async (unit) => {
    const made: Signed = {
      digest,
      digest_signature: base64(
        await services.organizationKeys.sign(unit, facts.org_id, utf8(`seneschal/compliance-report/v2\0${digest}`)),
      ),
      digest_key: base64((await services.organizationKeys.publicKeys(unit, facts.org_id)).signing),
    };
    unit.insert(reportSeals, facts.id, { ...facts, completed_at, format, size, ...made });
    unit.record({ type: "audit.export", metadata: { report: facts.type, report_id: facts.id, format, digest } });
    return made;
  });
  yield new Uint8Array(Buffer.from(lastLines[format](signed)));
}

/** Everything but the last line. */
const bodies: Readonly<Record<Format, (whole: GrowingObject) => AsyncIterable<string>>> = {
  async *json(whole) {
    yield "{";
    yield* fieldsText(whole);
    yield "\n";
  },
  csv: csvText,
  html: (whole) => htmlText(`${String(whole["type"])} of ${String(whole["org_id"])}`, whole),
};

const lastLines: Readonly<Record<Format, (signed: Signed) => string>> = {
  json: (signed) => `,${JSON.stringify(signed).slice(1)}\n`,
  csv: ({ digest, digest_signature, digest_key }) => csvRow("seal", `${digest} ${digest_signature} ${digest_key}`),
  html: ({ digest, digest_signature, digest_key }) =>
    `<footer>SHA-256 of all lines above <code>${digest}</code>, signed <code>${escapeHtml(digest_signature)}</code> by <code>${escapeHtml(digest_key)}</code></footer></body></html>\n`,
};
