import { keyText } from "../platform/index.ts";

/** What an index holds beside the id: of the 1 KiB of both, the organisation and a digest. */
const INDEXED = 64;

/** The id of what an organisation has by names, which may be longer than an id. */
export function documentId(org: string, ...names: readonly string[]): string {
  return `${org}|${nameInId(org, ...names)}`;
}

/** The part of {@link documentId} behind the organisation: the names, or their digest. */
export function nameInId(org: string, ...names: readonly string[]): string {
  return keyText(names.join("|"), 1024 - 2 * Buffer.byteLength(org) - INDEXED);
}
