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

/** Rows go only where an import is under way: not behind another run that has finished it. */
export function checkImporting({ state }: MigrationState): void {
  if (state !== "importing")
    throw new CodedError<StoreErrorCode>("store_misconfigured", "the target of the migration is no longer being filled");
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
