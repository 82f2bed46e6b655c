import { classifyColumn } from "../classification/columns/columns.ts";
import { shownColumn } from "../classification/columns/shown-column.ts";
import { SpreadValues } from "../classification/columns/spread-values.ts";
import type { Redacted, RedactionOptions } from "./redact.ts";
import { redactionRuleFor } from "./rules.ts";

/** Values of a column that are looked at, as many as classification looks at. */
const SAMPLES = 1000;

/** Columns by their values, to be judged as classification judges them. */
export class JudgedColumns {
  readonly #columns = new Map<
    string,
    { readonly name: string; readonly path?: readonly string[]; readonly sample: SpreadValues }
  >();

  add(id: string, name: string, value: string, path?: readonly string[]): void {
    const known = this.#columns.get(id);
    const { sample } = known ?? { sample: new SpreadValues(SAMPLES) };
    if (known === undefined) this.#columns.set(id, { name, sample, ...(path === undefined ? {} : { path }) });
    sample.add(value);
  }

  /** What each column holds as a whole, where a rule hides that. */
  entities(options: RedactionOptions): ReadonlyMap<string, string> {
    const { policy, rules, about } = options;
    const entities = new Map<string, string>();
    for (const [id, { name, path, sample }] of this.#columns) {
      const column = { name, values: sample.values, ...(path && { path }), ...(about === undefined ? {} : { about }) };
      const shown = sample.values.length === 0 ? undefined : shownColumn(column, options);
      const entity = shown === undefined ? undefined : classifyColumn(shown)?.entity;
      if (entity !== undefined && redactionRuleFor(policy, rules, entity).operator !== "keep") entities.set(id, entity);
    }
    return entities;
  }
}

/** What one column holds as a whole, where a rule hides that. */
export function columnEntity(
  name: string,
  values: Iterable<string>,
  options: RedactionOptions,
  path?: readonly string[],
): string | undefined {
  const columns = new JudgedColumns();
  for (const value of values) columns.add("", name, value, path);
  return columns.entities(options).get("");
}

/**
 * Redacts a table until no column of what is left says as a whole what it holds. `judge` tells that of a text by whatever names the same place in it before and after; `redacted` redacts the
 * given text with it.
 */
export function settled<Place>(
  text: string,
  judge: (text: string) => Iterable<readonly [Place, string]>,
  redacted: (entities: ReadonlyMap<Place, string>) => Redacted,
): Redacted {
  const entities = new Map(judge(text));
  for (;;) {
    const done = redacted(entities);
    const known = entities.size;
    for (const [place, entity] of judge(done.text)) if (!entities.has(place)) entities.set(place, entity);
    if (entities.size === known) return done;
  }
}
