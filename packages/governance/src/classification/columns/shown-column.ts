import {
  hiddenSpans,
  type KnownEntities,
  markedSpans,
  markerForms,
  outsideOf,
  saysSomething,
  shownOf,
} from "../../redaction/markers.ts";
import type { ColumnSample } from "./columns.ts";

/**
 * What a column shows: its name and values without markers, those left out that say nothing any more. `undefined`: it has values, and all are hidden, so that its name holds of none; so it is where no cell says anything and some are empty, as values that
 * were dropped leave them.
 */
export function shownColumn(column: ColumnSample, known: KnownEntities): ColumnSample | undefined {
  const { values } = column;
  const name = shownName(column.name, known);
  const path = column.path?.map((part) => shownName(part, known));
  if (values?.some((value) => value.trim() === "") === true && !values.some(saysSomething)) return undefined;
  const shown = values?.map((value) => shownOf(value, known));
  if (shown?.every((value, i) => value === values?.[i]) !== false && name === column.name) return column;
  const left = shown?.filter((value, i) => value === values?.[i] || saysSomething(value));
  if (values !== undefined && values.length > 0 && left?.some(saysSomething) !== true) return undefined;
  return Object.assign({}, column, { name }, path && { path }, left && { values: left });
}

/** A name without what was taken out of it. */
export function shownName(name: string, known: KnownEntities): string {
  return /[<*]/.test(name) ? outsideOf(name, hiddenSpans(name, markedSpans(name, known, markerForms))) : name;
}
