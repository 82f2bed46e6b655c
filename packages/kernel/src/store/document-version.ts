import { checkArgument } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { StoreErrorCode } from "../ports/document-store.ts";
import type { CompiledCollection } from "./schema.ts";

/** Where a stored document says which version of its collection wrote it; absent: 1. Callers neither see nor write it. */
export const versionMember = "$version";

/** The text to store for a document as the collection is declared now. */
export function versionedText({ version }: CompiledCollection, text: string): string {
  if (version === 1) return text;
  return `{"${versionMember}":${version}${text === "{}" ? "" : ","}${text.slice(1)}`;
}

/**
 * What was stored, as the collection is declared now: documents of earlier versions go through the upgrade steps. Every engine hands
 * out and indexes documents through this alone. The argument may be changed.
 *
 * @throws CodedError `unknown_version` for a document that a later release wrote.
 */
export function currentDocument(collection: CompiledCollection, id: string, stored: JsonObject): JsonObject {
  checkArgument("collection", collection, "object");
  checkArgument("id", id, "string");
  checkArgument("stored", stored, "object");
  const marked = stored[versionMember];
  // The way of nearly every document.
  if (marked === undefined && collection.version === 1) return stored;
  const version = marked ?? 1;
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1 || version > collection.version)
    throw new CodedError<StoreErrorCode>(
      "unknown_version",
      `${collection.name}/${id} is of version ${JSON.stringify(version)}, this release reads up to ${collection.version}`,
      { coll: collection.name, id, version, known: collection.version },
    );
  const { [versionMember]: _, ...plain } = stored;
  return collection.upgrades.slice(version - 1).reduce((doc, step) => step(doc), plain as JsonObject);
}
