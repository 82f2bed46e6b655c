import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { CollectionSpec, Collections, IndexSpec, IndexValue, StoreErrorCode } from "../ports/document-store.ts";
import { utf8Length } from "./byte-string.ts";
import { stringProblem } from "./check-json.ts";
import { encodeIndexKey } from "./index-key.ts";

/** What a store is opened with: its collections, and the indexes of the pseudo-collection `audit` beyond the built-in ones. */
export interface StoreSchema {
  readonly collections: Collections;
  /** Functions of `{ stream, event }`, what is known before the commit. `stream` and `seq` are built in; none may be unique. */
  readonly auditIndexes?: Readonly<Record<string, IndexSpec>>;
  /**
   * The member of audit events that holds their time, a text that sorts by time (RFC 3339, UTC, one precision). Where it is before the time of the
   * entry before, of whatever stream, the store writes that time in its place: times never go back while numbers go on.
   */
  readonly auditTime?: string;
}

/** Encoded index values by index name; an index that the document is not in is absent. */
export type IndexKeys = Readonly<Record<string, string>>;

/** One collection, ready to index documents. */
export interface CompiledCollection {
  readonly name: string;
  readonly indexes: readonly { readonly name: string; readonly spec: IndexSpec }[];
  readonly uniques: readonly string[];
  /** Of the documents that are written. */
  readonly version: number;
  /** The step to version 2 first. */
  readonly upgrades: readonly ((doc: JsonObject) => JsonObject)[];
}

/** A checked schema. */
export interface CompiledSchema {
  readonly collections: ReadonlyMap<string, CompiledCollection>;
  readonly audit: CompiledCollection;
  /** The indexes of `audit` but for those by its numbers, which a commit gives. */
  readonly auditFacts: CompiledCollection;
  /** See {@link StoreSchema.auditTime}. */
  readonly auditTime: string | undefined;
}

/** The name of the pseudo-collection of audit entries. */
export const auditCollection = "audit";

/** The length of an audit entry's id in index keys. */
export const auditIdBytes = 16;

/** Encoded index key and id may take this many bytes together: far below what a PostgreSQL btree accepts (2,704). */
export const maxKeyBytes = 1024;

const namePattern = /^[a-z][a-z0-9_]{0,39}$/;

const builtInAuditIndexes: Readonly<Record<string, IndexSpec>> = {
  stream: { key: (doc) => [doc["stream"] as string, doc["stream_seq"] as number] },
  seq: { key: (doc) => [doc["seq"] as number] },
};

/**
 * Checks the names of a schema and makes it ready for use.
 *
 * @throws CodedError `invalid_schema` naming the collection or index.
 */
export function compileSchema(schema: StoreSchema): CompiledSchema {
  checkArgument("schema", schema, "object");
  checkArgument("schema.collections", schema.collections, "object");
  const collections = new Map<string, CompiledCollection>();
  for (const [name, spec] of Object.entries(schema.collections)) {
    if (name === auditCollection) throw invalid(`the collection name "${name}" is reserved`);
    collections.set(name, compileCollection(name, spec));
  }
  const own = schema.auditIndexes ?? {};
  for (const [name, spec] of Object.entries(own)) {
    if (Object.hasOwn(builtInAuditIndexes, name)) throw invalid(`the audit index "${name}" is built in`);
    if (spec.unique === true) throw invalid(`the audit index "${name}" cannot be unique`);
  }
  const auditFacts = compileCollection(auditCollection, { indexes: own });
  return {
    collections,
    auditFacts,
    auditTime: schema.auditTime,
    audit: compileCollection(auditCollection, { indexes: { ...builtInAuditIndexes, ...own } }),
  };
}

function compileCollection(name: string, { indexes: specs, version = 1, upgrade = {} }: CollectionSpec): CompiledCollection {
  if (!namePattern.test(name)) throw invalid(`the collection name "${name}" does not match ${namePattern.source}`);
  const indexes = Object.entries(specs).map(([index, spec]) => {
    if (!namePattern.test(index)) throw invalid(`the index name "${name}.${index}" does not match ${namePattern.source}`);
    return { name: index, spec };
  });
  const uniques = indexes.filter(({ spec }) => spec.unique === true).map((index) => index.name);
  return { name, indexes, uniques, version, upgrades: upgradeSteps(name, version, upgrade) };
}

function upgradeSteps(
  name: string,
  version: number,
  upgrade: NonNullable<CollectionSpec["upgrade"]>,
): CompiledCollection["upgrades"] {
  if (!Number.isSafeInteger(version) || version < 1) throw invalid(`the version of collection "${name}" is no integer from 1`);
  const steps = Array.from({ length: version - 1 }, (_, at) => upgrade[at + 2]);
  const missing = steps.indexOf(undefined);
  if (missing >= 0) throw invalid(`the collection "${name}" has no upgrade step to version ${missing + 2}`);
  if (Object.keys(upgrade).length > steps.length) throw invalid(`the collection "${name}" has upgrade steps beyond its version`);
  return steps.filter((step) => step !== undefined);
}

/** The collection by name, `audit` included. Throws CodedError `invalid_query` for an unknown one. */
export function collectionOf(schema: CompiledSchema, name: string): CompiledCollection {
  checkArgument("schema", schema, "object");
  checkArgument("name", name, "string");
  const found = name === auditCollection ? schema.audit : schema.collections.get(name);
  if (found === undefined) throw new CodedError<StoreErrorCode>("invalid_query", `unknown collection "${name}"`, { coll: name });
  return found;
}

/** Encodes the index keys of one document. Throws CodedError `invalid_document` for values out of the domain. */
export function indexKeys(collection: CompiledCollection, id: string, doc: JsonObject): IndexKeys {
  checkArgument("collection", collection, "object");
  checkArgument("id", id, "string");
  checkArgument("doc", doc, "object");
  const keys: Record<string, string> = {};
  const idBytes = utf8Length(id);
  for (const { name, spec } of collection.indexes) {
    const values = spec.key(doc);
    if (values === undefined) continue;
    const problem = valuesProblem(values);
    if (problem !== undefined) throw keyError(collection.name, name, id, problem);
    const key = encodeIndexKey(values);
    if (key.length + idBytes + 1 > maxKeyBytes)
      throw keyError(collection.name, name, id, `with the id takes ${key.length + idBytes + 1} bytes, more than ${maxKeyBytes}`);
    keys[name] = key;
  }
  return keys;
}

/**
 * The index keys of a document by its text: an index sees what is stored, such as 0 for -0. What no index asks for is not parsed.
 * `documentOf` makes what is indexed of what the text says.
 */
export function indexKeysOfText(
  collection: CompiledCollection,
  id: string,
  text: string,
  documentOf = (stored: JsonObject): JsonObject => stored,
): IndexKeys {
  checkArgument("collection", collection, "object");
  checkArgument("id", id, "string");
  checkArgument("text", text, "string");
  return collection.indexes.length === 0 ? {} : indexKeys(collection, id, documentOf(JSON.parse(text) as JsonObject));
}

/** The keys of the built-in audit indexes. `stream` was checked by {@link checkStream}. */
export function auditNumberKeys(stream: string, streamSeq: number, seq: number): IndexKeys {
  return { stream: encodeIndexKey([stream, streamSeq]), seq: encodeIndexKey([seq]) };
}

/** Checks that a stream's entries can be indexed. Throws CodedError `invalid_document`. */
export function checkStream(audit: CompiledCollection, stream: string): void {
  // Every number takes the same bytes, so that one key stands for all.
  const bytes = encodeIndexKey([stream, 1]).length + auditIdBytes + 1;
  if (bytes > maxKeyBytes) throw keyError(audit.name, "stream", stream, `takes ${bytes} bytes, more than ${maxKeyBytes}`);
}

/** What is wrong with index values, or `undefined`. */
export function valuesProblem(values: readonly IndexValue[]): string | undefined {
  for (const value of values) {
    if (typeof value === "string") {
      const problem = stringProblem(value);
      if (problem !== undefined) return problem;
    } else if (typeof value === "number") {
      if (!Number.isFinite(value)) return "has a number that is not finite";
    } else if (value !== null && typeof value !== "boolean") return "has a value that is no scalar";
  }
  return undefined;
}

/** Texts that differ when an index must be rebuilt, by `<collection>.<index>`. */
export function indexRevisions(schema: CompiledSchema): Readonly<Record<string, string>> {
  checkArgument("schema", schema, "object");
  const revisions: Record<string, string> = {};
  for (const collection of [...schema.collections.values(), schema.audit]) {
    // Keys are functions of the documents of this version.
    const version = collection.version === 1 ? "" : ` version ${collection.version}`;
    for (const { name, spec } of collection.indexes)
      revisions[`${collection.name}.${name}`] = `${spec.revision ?? 1}${spec.unique === true ? " unique" : ""}${version}`;
  }
  return revisions;
}

function invalid(message: string): CodedError<StoreErrorCode> {
  return new CodedError("invalid_schema", message);
}

function keyError(coll: string, index: string, id: string, problem: string): CodedError<StoreErrorCode> {
  return new CodedError("invalid_document", `the key of index ${coll}.${index} ${problem}`, { coll, index, id });
}
