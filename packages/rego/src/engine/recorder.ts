import { checkArgument } from "../argument.ts";
import type { Branch } from "../compile/ir.ts";
import type { RuleProbe } from "../compile/rules.ts";
import type { RuleSet } from "../compile/tree.ts";
import type { Location, Module } from "../syntax/ast.ts";

/** One rule's body (or `else` branch) as it was run. */
export interface RuleTrace {
  /** `data.authz.allow`. */
  readonly rule: string;
  readonly file: string;
  readonly row: number;
  readonly held: boolean;
  /** Row of the first literal, in the order of the source, that never held; undefined if all did. */
  readonly failedAt: number | undefined;
  /** The text of that literal's row. */
  readonly text: string | undefined;
}

interface Open {
  readonly set: RuleSet;
  readonly branch: Branch;
  readonly held: Set<string>;
}

const MAX_TRACES = 10_000;

/** Notes which rules and literals of a policy compiled with it hold. */
export class Recorder implements RuleProbe {
  readonly exhaustive = true;
  readonly traces: RuleTrace[] = [];
  /** Rows that were reached, by file. */
  readonly rows = new Map<string, Set<number>>();
  readonly #open: Open[] = [];
  readonly #lines = new Map<string, readonly string[]>();

  constructor(sources: readonly { readonly name: string; readonly source: string }[]) {
    for (const { name, source } of sources) this.#lines.set(name, source.split("\n"));
  }

  /** Forgets the evaluation before. */
  restart(): void {
    this.traces.length = 0;
    this.#open.length = 0;
    this.rows.clear();
  }

  literal(file: string, loc: Location): void {
    this.#reach(file, loc.row);
    this.#open.at(-1)?.held.add(`${loc.row}:${loc.col}`);
  }

  enter(set: RuleSet, branch: Branch): void {
    this.#open.push({ set, branch, held: new Set() });
  }

  leave(file: string, set: RuleSet, branch: Branch, held: boolean): void {
    const top = this.#open.pop();
    if (held) this.#reach(file, branch.loc.row);
    if (this.traces.length >= MAX_TRACES) return;
    const literals = [...branch.statements].sort((a, b) => a.loc.offset - b.loc.offset);
    const failed = held ? undefined : literals.find(({ loc }) => top?.held.has(`${loc.row}:${loc.col}`) !== true);
    const row = failed?.loc.row;
    const text = row === undefined ? undefined : this.#lines.get(file)?.[row - 1]?.trim();
    this.traces.push({ rule: set.name, file, row: branch.loc.row, held, failedAt: row, text });
  }

  #reach(file: string, row: number): void {
    const rows = this.rows.get(file);
    if (rows === undefined) this.rows.set(file, new Set([row]));
    else rows.add(row);
  }
}

export interface FileCoverage {
  readonly file: string;
  readonly covered: readonly number[];
  readonly missed: readonly number[];
  /** Share of rows covered, 0..1. */
  readonly share: number;
}

/** Rows of rules and literals that a recorder reached and missed. */
export function coverageOf(modules: readonly Module[], recorder: Recorder): readonly FileCoverage[] {
  return modules.map((module) => {
    const all = rowsOf(module);
    const reached = recorder.rows.get(module.name);
    if (reached === undefined) return { file: module.name, covered: [], missed: all, share: all.length === 0 ? 1 : 0 };
    const covered = all.filter((row) => reached.has(row));
    const missed = all.filter((row) => !reached.has(row));
    return { file: module.name, covered, missed, share: all.length === 0 ? 1 : covered.length / all.length };
  });
}

/** The rows of modules that can be covered, in order: asked for again by every test of a policy. */
const rows = new WeakMap<Module, readonly number[]>();

function rowsOf(module: Module): readonly number[] {
  const known = rows.get(module);
  if (known !== undefined) return known;
  const found = new Set<number>();
  for (const rule of module.rules) {
    if (rule.isDefault) continue;
    for (const { loc, body } of [rule, ...rule.otherwise]) {
      found.add(loc.row);
      for (const literal of body) if (literal.expr.kind !== "some") found.add(literal.loc.row);
    }
  }
  const all = [...found].sort((a, b) => a - b);
  rows.set(module, all);
  return all;
}

/** What several evaluations of one policy covered together. */
export function mergeCoverage(all: readonly (readonly FileCoverage[])[]): readonly FileCoverage[] {
  checkArgument("all", all, "array");
  const [first = []] = all;
  return first.map(({ file, covered: own, missed: left }, i) => {
    const reached = new Set(all.flatMap((files) => files[i]?.covered ?? []));
    const rows = [...own, ...left].sort((a, b) => a - b);
    const covered = rows.filter((row) => reached.has(row));
    const missed = rows.filter((row) => !reached.has(row));
    return { file, covered, missed, share: rows.length === 0 ? 1 : covered.length / rows.length };
  });
}

/** The report of `opa test --coverage`: rows in ranges, percentages to two places. */
export function coverageReport(coverage: readonly FileCoverage[]) {
  checkArgument("coverage", coverage, "array");
  const lines = (rows: readonly FileCoverage[], of: "covered" | "missed"): number =>
    rows.reduce((n, file) => n + file[of].length, 0);
  const totals = (rows: readonly FileCoverage[]) => {
    const [covered, missed] = [lines(rows, "covered"), lines(rows, "missed")];
    const share = covered + missed === 0 ? 0 : covered / (covered + missed);
    return {
      ...(covered > 0 ? { covered_lines: covered } : {}),
      ...(missed > 0 ? { not_covered_lines: missed } : {}),
      ...(share > 0 ? { coverage: Math.round(share * 10_000) / 100 } : {}),
    };
  };
  const files = coverage.map((file) => [
    file.file,
    {
      ...(file.covered.length > 0 ? { covered: ranges(file.covered) } : {}),
      ...(file.missed.length > 0 ? { not_covered: ranges(file.missed) } : {}),
      ...totals([file]),
    },
  ]);
  return { files: Object.fromEntries(files), ...totals(coverage) };
}

function ranges(rows: readonly number[]) {
  const out: { start: { row: number }; end: { row: number } }[] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (last !== undefined && last.end.row === row - 1) last.end.row = row;
    else out.push({ start: { row }, end: { row } });
  }
  return out;
}
