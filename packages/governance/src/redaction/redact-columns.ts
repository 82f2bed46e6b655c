import { checkArgument } from "@seneschal/kernel";
import type { Around } from "../classification/named-values/named-column.ts";
import { JudgedColumns, otherwiseColumns } from "./column-entities.ts";
import { everywhere, FileReading } from "./file-reading.ts";
import { checkRedaction, joined, type Redacted, type RedactionOptions } from "./redact.ts";
import { columnContext, named, namedWithin, nameLeft, type Written } from "./written-values.ts";

/** A column of a table. */
export interface TableColumn {
  /** Its name, behind those of the structures that it stands in. */
  readonly path: readonly string[];
  readonly cells: readonly (string | null)[];
}

/** A column after redaction, and how often something was hidden of each entity in its names and its cells. */
export interface RedactedColumn extends TableColumn {
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Redacts the columns of a table: their names, and each cell with what the names say of it, and with what the column holds as a whole by these and most of its values, as classification tells it. What is hidden in one cell is hidden in all. Throws as `redact`.
 *
 * @example
 * ```ts
 * import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, redactColumns } from "@seneschal/governance";
 * const options = { policy: DEFAULT_TIER_POLICY, recognisers: DEFAULT_RECOGNISERS, rules: [] };
 * const [ssn, note] = redactColumns([{ path: ["ssn"], cells: ["536226728", null] }, { path: ["note"], cells: ["sent to 536226728", "7"] }], options);
 * console.log(ssn?.cells, note?.cells); // [ '<US_SSN>', null ] [ 'sent to <US_SSN>', '7' ]
 * ```
 */
export function redactColumns(columns: readonly TableColumn[], options: RedactionOptions): readonly RedactedColumn[] {
  checkRedaction("", options);
  checkArgument("columns", columns, "array");
  for (const { path, cells } of columns) {
    checkArgument("path", path, "array");
    checkArgument("cells", cells, "array");
  }
  const reading = new FileReading();
  const redacted = (value: string, under: RedactionOptions): Redacted =>
    joined(reading.written(value, [{ written: asItIs(value), alone: true }], under), options.policy);
  const within = namedWithin(options);
  const inColumn = columnContext();
  const otherwise = otherwiseColumns(
    columns.map(({ path, cells }) => ({ name: path.at(-1) ?? "", values: cells.filter((cell) => cell !== null) })),
    options.about ?? "",
  );
  /** What the names of each column say of a value. */
  const under = columns.map(({ path }, i) => {
    if (path.length === 1 && otherwise.has(i)) return () => options;
    const [name = "", ...outwards] = path.map((part) => nameLeft(reading.alone(part, options), options)).reverse();
    const around = outwards.reduceRight<Around | undefined>((outer, name) => ({ name, outer }), undefined);
    if (around === undefined) {
      const alone = named(options, name, options.about ?? "");
      return () => alone;
    }
    return (value: string) => inColumn(within(name, around, value), path.join("."));
  });
  const redactedColumn = ({ path, cells }: TableColumn, i: number): RedactedColumn => {
    const counts = new Map<string, number>();
    const counted = ({ text, redactions }: Redacted): string => {
      for (const { entity } of redactions) counts.set(entity, (counts.get(entity) ?? 0) + 1);
      return text;
    };
    const given = (cell: string) => reading.heldBy(under[i]?.(cell) ?? options, entities.get(`${i}`));
    return {
      path: path.map((name) => counted(redacted(name, options))),
      cells: cells.map((cell) => (cell === null ? null : counted(redacted(cell, given(cell))))),
      counts,
    };
  };
  const judged = (columns: readonly TableColumn[]): ReadonlyMap<string, string> => {
    const judged = new JudgedColumns();
    for (const [i, { path, cells }] of columns.entries())
      for (const cell of cells) if (cell !== null) judged.add(`${i}`, path.join("."), cell, path);
    return judged.entities(options);
  };
  const entities = new Map(judged(columns));
  for (;;) {
    const done = everywhere(reading, () => columns.map(redactedColumn));
    const known = entities.size;
    for (const [i, entity] of judged(done)) if (!entities.has(i)) entities.set(i, entity);
    if (entities.size === known) return done;
  }
}

function asItIs(value: string): Written {
  return { value, at: (i) => i, write: (text) => text, keepsValue: true };
}
