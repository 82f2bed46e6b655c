import { classifyColumn } from "../classification/columns/columns.ts";
import { shownColumn, shownName } from "../classification/columns/shown-column.ts";
import { SpreadValues } from "../classification/columns/spread-values.ts";
import { isOtherwise, Surroundings, termOf } from "../classification/lexicon.ts";
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

  /** What each column holds as a whole, where a rule hides that. It is judged by what is `around` all of them, by default by the columns beside it and the name of the table. */
  entities(options: RedactionOptions, around?: Surroundings): ReadonlyMap<string, string> {
    const { policy, rules } = options;
    const entities = new Map<string, string>();
    const aroundOf = around === undefined ? this.#surroundings(options) : () => around;
    for (const [id, { name, path, sample }] of this.#columns) {
      const column = { name, values: sample.values, ...(path && { path }), around: aroundOf(path) };
      const shown = sample.values.length === 0 ? undefined : shownColumn(column, options);
      const entity = shown === undefined ? undefined : classifyColumn(shown)?.entity;
      if (entity !== undefined && redactionRuleFor(policy, rules, entity).operator !== "keep") entities.set(id, entity);
    }
    return entities;
  }

  /** What stands around a column: the table, and the names in the same structure of it. */
  #surroundings(options: RedactionOptions): (path: readonly string[] | undefined) => Surroundings {
    const within = (path: readonly string[] = []): string => JSON.stringify(path.slice(0, -1));
    const names = new Map<string, string[]>();
    for (const { name, path } of this.#columns.values()) {
      const beside = names.get(within(path)) ?? [];
      names.set(within(path), beside);
      beside.push(shownName(path?.at(-1) ?? name, options));
    }
    const around = new Map([...names].map(([within, beside]) => [within, new Surroundings(options.about, beside)]));
    return (path) => around.get(within(path)) ?? new Surroundings(options.about);
  }
}

/** A column by its name and all of its values. */
export interface NamedValues {
  readonly name: string;
  readonly values: readonly string[];
}

/** The columns, by their places, of which every value says that their name means something else: `health_status` of services, where nothing beside it is about persons. */
export function otherwiseColumns(columns: readonly NamedValues[], about: string): ReadonlySet<number> {
  const around = new Surroundings(
    about,
    columns.map(({ name }) => name),
  );
  const otherwise = new Set<number>();
  for (const [column, { name, values }] of columns.entries()) {
    const term = termOf(name, around);
    if (term?.otherwise === undefined) continue;
    const said = values.map((value) => value.trim()).filter((value) => value !== "");
    if (isOtherwise(term, name, around, said)) otherwise.add(column);
  }
  return otherwise;
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
