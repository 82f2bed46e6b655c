import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Check, Commit, RangeCheck, StoreErrorCode } from "../ports/document-store.ts";
import { takesMoreThan } from "./byte-string.ts";
import { serialiseDocument, stringProblem } from "./check-json.ts";
import { versionedText, versionMember } from "./document-version.ts";
import { type KeyRange, listRequest } from "./list-range.ts";
import {
  auditIdBytes,
  type CompiledCollection,
  type CompiledSchema,
  checkStream,
  type IndexKeys,
  indexKeysOfText,
  maxKeyBytes,
} from "./schema.ts";

/** Stands for the number that the commit will give: all take the same bytes. */
const anyAuditId = "0".repeat(auditIdBytes);

/** A put with its document serialised and its index keys encoded. */
export interface PreparedPut {
  readonly coll: string;
  readonly id: string;
  readonly text: string;
  readonly keys: IndexKeys;
  readonly ifVersion: number | undefined;
}

/** An audit event, serialised, with the index keys that do not need its numbers. */
interface PreparedAudit {
  readonly stream: string;
  readonly text: string;
  readonly keys: IndexKeys;
  /** Where the schema says which member it is. */
  readonly time: string | undefined;
}

/** A list, or without a `limit` a count, with the answer that it must have. */
export interface PreparedRange {
  readonly coll: string;
  readonly index: string;
  readonly range: KeyRange;
  readonly limit?: number;
  readonly offset: number;
  readonly reverse: boolean;
  /** See {@link answerText}. */
  readonly found: string;
}

/** The answer of a list or a count as a text to be compared. */
export function answerText(found: RangeCheck["found"]): string {
  if (typeof found !== "number") checkArgument("found", found, "array");
  return typeof found === "number" ? String(found) : found.map(({ id, version }) => `${version} ${id}\n`).join("");
}

/** A commit that no longer depends on anything the caller can change. */
export interface PreparedCommit {
  readonly commitId: string;
  readonly puts: readonly PreparedPut[];
  readonly dels: readonly { readonly coll: string; readonly id: string; readonly ifVersion: number | undefined }[];
  readonly checks: readonly Check[];
  readonly ranges: readonly PreparedRange[];
  readonly audit: readonly PreparedAudit[];
  /** Characters of all texts; bounds merged batches. */
  readonly size: number;
}

/** The document that an audit entry is indexed and listed as. */
export function auditDocument(seq: number, stream: string, streamSeq: number, event: JsonObject): JsonObject {
  return { seq, stream, stream_seq: streamSeq, event };
}

/**
 * Checks a commit against the domain of the store (brief, value and key domain) and serialises it synchronously.
 *
 * @throws CodedError `invalid_document` (a value out of the domain) or `invalid_commit` (unknown collection, bad id or
 *   version, the same id written twice). Nothing is queued then.
 */
export function prepareCommit(schema: CompiledSchema, commit: Commit): PreparedCommit {
  checkArgument("schema", schema, "object");
  checkArgument("commit", commit, "object");
  checkId("commitId", commit.commitId);
  const written = new Set<string>();
  const puts = (commit.puts ?? []).map((put): PreparedPut => {
    const collection = writable(schema, put.coll, put.id, put.ifVersion, written);
    const text = serialiseDocument(put.doc, `${put.coll}/${put.id}`);
    if (Object.hasOwn(put.doc, versionMember))
      throw new CodedError<StoreErrorCode>("invalid_document", `${put.coll}/${put.id}.${versionMember} is the store's own`, {
        path: `${put.coll}/${put.id}.${versionMember}`,
      });
    const keys = indexKeysOfText(collection, put.id, text);
    return { coll: put.coll, id: put.id, text: versionedText(collection, text), keys, ifVersion: put.ifVersion };
  });
  const dels = (commit.dels ?? []).map((del) => {
    writable(schema, del.coll, del.id, del.ifVersion, written);
    return { coll: del.coll, id: del.id, ifVersion: del.ifVersion };
  });
  const checks = (commit.checks ?? []).map(({ coll, id, version }) => {
    writable(schema, coll, id, version, undefined);
    return { coll, id, version };
  });
  const ranges = (commit.ranges ?? []).map(({ coll, index, prefix, options, found }): PreparedRange => {
    if (!schema.collections.has(coll)) throw invalid(`unknown collection "${coll}"`, { coll });
    const { range, limit, offset, reverse } = listRequest(schema, coll, index, prefix, { limit: 1, ...options });
    const counts = typeof found === "number";
    return { coll, index, range, offset, reverse, found: answerText(found), ...(counts ? {} : { limit }) };
  });
  const audit = (commit.audit ?? []).map(({ stream, event }) => {
    checkId("stream", stream);
    const text = serialiseDocument(event, `audit/${stream}`);
    checkStream(schema.audit, stream);
    const time = schema.auditTime === undefined ? undefined : event[schema.auditTime];
    return { stream, text, keys: auditKeys(schema, stream, text), time: typeof time === "string" ? time : undefined };
  });
  const size = [...puts, ...audit].reduce((sum, { text }) => sum + text.length, 0);
  return { commitId: commit.commitId, puts, dels, checks, ranges, audit, size };
}

/** The event as of a later time: see `auditTime` of the schema. */
export function atTime(schema: CompiledSchema, { stream, text }: PreparedAudit, time: string): PreparedAudit {
  const later = JSON.stringify({ ...(JSON.parse(text) as JsonObject), [schema.auditTime ?? ""]: time });
  return { stream, text: later, keys: auditKeys(schema, stream, later), time };
}

function auditKeys(schema: CompiledSchema, stream: string, text: string): IndexKeys {
  return indexKeysOfText(schema.auditFacts, anyAuditId, text, (stored) => ({ stream, event: stored }));
}

function writable(
  schema: CompiledSchema,
  coll: string,
  id: string,
  version: number | undefined,
  written: Set<string> | undefined,
): CompiledCollection {
  const collection = schema.collections.get(coll);
  if (collection === undefined) throw invalid(`unknown collection "${coll}"`, { coll });
  checkId(`the id in ${coll}`, id);
  if (version !== undefined && (!Number.isSafeInteger(version) || version < 0))
    throw invalid(`the version expected of ${coll}/${id} is no integer from 0`, { coll, id });
  const name = `${coll}/${id}`;
  if (written?.has(name) === true) throw invalid(`${name} is written twice in one commit`, { coll, id });
  written?.add(name);
  return collection;
}

function checkId(what: string, id: string): void {
  if (typeof id !== "string" || id.length === 0) throw invalid(`${what} is not a non-empty string`, {});
  const problem = stringProblem(id);
  if (problem !== undefined) throw invalid(`${what} ${problem}`, {});
  if (takesMoreThan(id, maxKeyBytes)) throw invalid(`${what} takes more than ${maxKeyBytes} bytes`, {});
}

function invalid(message: string, details: Readonly<Record<string, unknown>>): CodedError<StoreErrorCode> {
  return new CodedError("invalid_commit", message, details);
}
