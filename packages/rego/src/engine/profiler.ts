import { checkArgument } from "../argument.ts";
import type { RuleProbe } from "../compile/rules.ts";
import type { Location } from "../syntax/ast.ts";

/** What the expressions of one row took, as the profile of `opa eval` tells it. */
export interface ProfiledRow {
  /** The name of the source. */
  readonly file: string;
  readonly row: number;
  readonly col: number;
  /** The row's text. */
  readonly text: string;
  /** Times that an expression of the row was evaluated. */
  readonly evaluations: number;
  /** Times that one was asked for its next solution, after what follows it had run with the one before. */
  readonly redos: number;
  /** Expressions that the compiler made of the row and that ran. */
  readonly expressions: number;
  /** Milliseconds of the given clock until the next expression began; 0 without a clock. */
  readonly time: number;
}

/** What a profile can be sorted by: the highest first, files and rows ascending. */
export type ProfileOrder = "time" | "evaluations" | "redos" | "expressions" | "file" | "row";

interface Counted {
  readonly col: number;
  evaluations: number;
  redos: number;
  time: number;
  readonly seen: Set<Location>;
}

/** Counts what each row of a policy compiled with it does. */
export class Profiler implements RuleProbe {
  readonly exhaustive = false;
  #rows = new Map<string, Map<number, Counted>>();
  #clock: (() => number) | undefined;
  #active: Counted | undefined;
  #since = 0;

  /** Forgets the evaluation before. */
  restart(clock: (() => number) | undefined): void {
    this.#rows = new Map();
    this.#clock = clock;
    this.#active = undefined;
    this.#since = clock?.() ?? 0;
  }

  reach(file: string, loc: Location): void {
    this.#at(file, loc).evaluations++;
  }

  redo(file: string, loc: Location): void {
    this.#at(file, loc).redos++;
  }

  #at(file: string, loc: Location): Counted {
    this.#settle();
    let rows = this.#rows.get(file);
    if (rows === undefined) {
      rows = new Map();
      this.#rows.set(file, rows);
    }
    let counted = rows.get(loc.row);
    if (counted === undefined) {
      counted = { col: loc.col, evaluations: 0, redos: 0, time: 0, seen: new Set() };
      rows.set(loc.row, counted);
    }
    counted.seen.add(loc);
    this.#active = counted;
    return counted;
  }

  /** Puts the time since the last event to the row that it was of. */
  #settle(): void {
    if (this.#clock === undefined) return;
    const now = this.#clock();
    if (this.#active !== undefined) this.#active.time += now - this.#since;
    this.#since = now;
  }

  /** The rows that ran, by file and row. */
  finish(sources: readonly { readonly name: string; readonly source: string }[]): readonly ProfiledRow[] {
    this.#settle();
    this.#active = undefined;
    const lines = new Map(sources.map(({ name, source }) => [name, source.split("\n")]));
    const all = [...this.#rows].flatMap(([file, rows]) =>
      [...rows].map(
        ([row, { seen, ...counted }]): ProfiledRow => ({
          file,
          row,
          text: lines.get(file)?.[row - 1]?.trim() ?? "",
          expressions: seen.size,
          ...counted,
        }),
      ),
    );
    return sortProfile(all, ["file", "row"]);
  }
}

/** The rows of a profile by one order after the other: counts and times from the highest on, files and rows ascending. */
export function sortProfile(rows: readonly ProfiledRow[], by: readonly ProfileOrder[]): readonly ProfiledRow[] {
  checkArgument("rows", rows, "array");
  checkArgument("by", by, "array");
  return [...rows].sort((a, b) => {
    for (const order of by) {
      const difference =
        order === "file"
          ? Number(a.file > b.file) - Number(a.file < b.file)
          : order === "row"
            ? a.row - b.row
            : b[order] - a[order];
      if (difference !== 0) return difference;
    }
    return 0;
  });
}
