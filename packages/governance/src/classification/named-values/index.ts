import { classifyColumn } from "../columns/columns.ts";
import { SpreadValues } from "../columns/spread-values.ts";
import type { LexiconTerm } from "../lexicon.ts";
import { LEXICON, termOf } from "../lexicon.ts";
import { markupColumns } from "./markup.ts";
import { type NamedColumn, outward, type Stretch } from "./named-column.ts";
import { rowsColumns } from "./rows.ts";
import { settingsColumns } from "./settings.ts";
import { tableColumns } from "./tables.ts";

/** A value of a text, and what the name that it stands under says that it is. */
export interface NamedValue {
  readonly entity: string;
  readonly term: string;
  readonly start: number;
  readonly end: number;
}

/** Values of a column that are looked at. */
const SAMPLES = 1000;
/** What stands where a value is not. */
const NO_VALUE = /^[\s*?.-]*$|^(?:null|none|nil|true|false|default|undefined|n\/a|%s|[:@$]\w+)$|\$\{|\{\{|<%|^(?:xsd?|xs):/i;
/** What says of a value for itself whether it is one. */
const BY_VALUE: ReadonlySet<string> = new Set(LEXICON.filter(({ byValue }) => byValue).map(({ term }) => term));

const NOTHING: readonly NamedValue[] = [];

/**
 * The values that stand under a name in a text, as members of JSON and cells of CSV do under theirs: in markup, in rows and assignments of SQL, in tables, and in settings. Each name is judged as a column of its values. In the order of the text.
 */
export function namedValues(text: string): readonly NamedValue[] {
  // A table has two lines, an assignment its sign, and whatever else names its values a bracket.
  if (!/[<(\n=]/.test(text)) return NOTHING;
  const found: NamedValue[] = [];
  for (const read of [markupColumns, rowsColumns, tableColumns, settingsColumns])
    for (const column of read(text)) found.push(...heldBy(text, column));
  return found.sort((a, b) => a.start - b.start);
}

function* heldBy(text: string, { name, beside, around, values, joined }: NamedColumn): Generator<NamedValue> {
  const sample = new SpreadValues(SAMPLES);
  const said = values.filter(([start, end]) => !NO_VALUE.test(text.slice(start, Math.min(end, start + 300))));
  if (said.length === 0) return;
  for (const [start, end] of said) sample.add(text.slice(start, end));
  let verdict = classifyColumn({ name, around: beside, values: sample.values });
  for (const values of joined ?? []) verdict ??= classifyColumn({ name, around: beside, values: values.slice(0, SAMPLES) });
  if (verdict !== undefined) {
    if (BY_VALUE.has(verdict.term)) return;
    for (const stretch of said) yield named(verdict, stretch);
    return;
  }
  for (const { name: outer, outer: next } of outward(around)) {
    const term = termOf(outer, next?.name);
    if (term === undefined) continue;
    if (term.byValue === true) return;
    for (const stretch of said) if (term.value?.test(text.slice(...stretch)) !== false) yield named(term, stretch);
    return;
  }
}

function named({ entity, term }: Pick<LexiconTerm, "entity" | "term">, [start, end]: Stretch): NamedValue {
  return { entity, term, start, end };
}
