import { CodedError } from "@seneschal/kernel";
import type { LogErrorCode, Migration, MigrationState, StoreErrorCode } from "@seneschal/kernel/ports";

/** What a migration writes at a place that nobody may open. */
export type Mark = Extract<MigrationState, { readonly move: Migration }>;

/** A mark as one text, and whatever else is kept with it. */
export function markText(mark: Mark & { readonly head?: string }): string {
  return `${mark.state} ${JSON.stringify(mark)}`;
}

/** The mark that a text is. */
export function parseMark(text: string): (Mark & { readonly head?: string }) | undefined {
  return /^(moved|importing) \{/.test(text) ? (JSON.parse(text.slice(text.indexOf(" "))) as Mark) : undefined;
}

/** An import begins in an empty place, or anew where one was cut off: looked at again where it happens, since somebody may have come between. */
export function checkImport({ state }: MigrationState): void {
  if (state !== "empty" && state !== "importing")
    throw new CodedError<StoreErrorCode>("store_misconfigured", "the target of the migration is no longer empty");
}

/** A source is fenced by one migration: two of them would both end, and both their targets serve. */
export function checkFence(found: MigrationState, { id }: Migration): void {
  if (found.state !== "serving" && !(found.state === "moved" && found.move.id === id))
    throw new CodedError<StoreErrorCode>("store_misconfigured", "another run has begun to migrate the source meanwhile");
}

/** Only the import that is under way writes and ends: not one that another run has ended, undone or begun anew. */
export function checkImporting(found: MigrationState, { id }: Migration): void {
  if (found.state !== "importing" || found.move.id !== id)
    throw new CodedError<StoreErrorCode>("store_misconfigured", "another run has ended, undone or begun this migration anew");
}

/** Why a marked store or log is not opened. */
export function markedError(what: "store" | "log", { state, move }: Mark): CodedError<StoreErrorCode | LogErrorCode> {
  const { id, from, to, at } = move;
  return state === "moved"
    ? new CodedError(`${what}_moved`, `${from} was moved to ${to} by seneschal migrate at ${at}: configure that`, {
        id,
        from,
        to,
        at,
      })
    : new CodedError(
        `${what}_incomplete`,
        `${to} is still being filled from ${from}: run seneschal migrate again, or with --abort`,
        { id, from, to, at },
      );
}
