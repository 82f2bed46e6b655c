import { checkArgument } from "@seneschal/kernel";
import { columnEntity } from "./column-entities.ts";
import { checkRedaction, joined, type Redacted, type RedactionOptions, redactedPieces } from "./redact.ts";
import { heldBy, named, nameLeft } from "./written-values.ts";

/** A column after redaction: its name, its cells, and how often something was hidden of each entity in either. */
export interface RedactedColumn {
  readonly name: string;
  readonly cells: readonly (string | null)[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Different values whose redaction is remembered. */
const MOST_REMEMBERED = 100_000;

/**
 * Redacts a column of a table: its name, and each cell with what the name says of it, and with what the column holds as a whole by its name and most of its values, as classification tells it. Throws as `redact`.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactColumn } from "@seneschal/governance";
 * const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
 * const { cells } = redactColumn("contact", ["ada@mail.example", "eve@mail.example", null, "bob@mail.example"], options);
 * console.log(cells[0], cells[2]); // <EMAIL_ADDRESS> null
 * ```
 */
export function redactColumn(name: string, cells: readonly (string | null)[], options: RedactionOptions): RedactedColumn {
  checkRedaction(name, options);
  checkArgument("cells", cells, "array");
  const pieces = redactedPieces(name, options);
  const called = joined(pieces, options.policy);
  const under = named(options, nameLeft(pieces, options), options.about ?? "");
  const judged = (column: string, values: readonly (string | null)[]): string | undefined =>
    columnEntity(
      column,
      values.filter((value) => value !== null),
      options,
    );
  const run = (entity: string | undefined) => {
    const given = heldBy(under, entity);
    const known = new Map<string, Redacted>();
    const counts = new Map<string, number>();
    const count = ({ redactions }: Redacted): void => {
      for (const { entity } of redactions) counts.set(entity, (counts.get(entity) ?? 0) + 1);
    };
    count(called);
    const done = cells.map((cell) => {
      if (cell === null) return null;
      const redacted = known.get(cell) ?? joined(redactedPieces(cell, given), options.policy);
      // What is sealed differs each time: that two cells are equal is not told.
      if (known.size < MOST_REMEMBERED && redacted.redactions.every(({ operator }) => operator !== "encrypt"))
        known.set(cell, redacted);
      count(redacted);
      return redacted.text;
    });
    return { name: called.text, cells: done, counts };
  };
  const entity = judged(name, cells);
  const done = run(entity);
  const later = entity === undefined ? judged(called.text, done.cells) : undefined;
  return later === undefined ? done : run(later);
}
