import { checkArgument } from "@seneschal/kernel";
import type { EventDataset, LineageEvent } from "./read-event.ts";
import { resourceId } from "./resource-id.ts";

/** What a run is in, by the kinds of its events. */
export type RunStatus = NonNullable<LineageEvent["eventType"]>;

/** One run of a job, from all its events. */
export interface LineageRunRecord {
  readonly job: string;
  readonly runId: string;
  /** The last that its events say; a run that ended stays ended. */
  readonly state: RunStatus;
  /** Milliseconds: of its first event, of the one that ended it, of its newest. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly updatedAt: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Facets of the run by name, the newest of each. */
  readonly facets: Readonly<Record<string, unknown>>;
  /** There are more data sets or facets, or larger ones, than are kept. */
  readonly truncated: boolean;
}

/** The columns that a data set had from a time on: name to type, null where nobody said it. */
export interface SchemaVersion {
  /** Milliseconds. */
  readonly time: number;
  readonly columns: Readonly<Record<string, string | null>>;
}

/** What became of columns between two versions, by name. */
export interface SchemaChanges {
  readonly added: readonly { readonly column: string; readonly type: string | null }[];
  readonly removed: readonly { readonly column: string; readonly type: string | null }[];
  readonly retyped: readonly { readonly column: string; readonly from: string | null; readonly to: string | null }[];
}

interface Run {
  readonly job: string;
  readonly runId: string;
  state: RunStatus;
  /** Of the event that the state is from. */
  stateAt: number;
  startedAt: number;
  updatedAt: number;
  readonly inputs: Set<string>;
  readonly outputs: Set<string>;
  readonly facets: Map<string, { readonly time: number; readonly text: string }>;
  truncated: boolean;
}

/** Runs that are kept, the newest to begin. */
const MAX_RUNS = 10_000;
/** So many more come before the oldest are looked for. */
const SLACK = 1_000;
/** Versions of one schema that are kept, the newest. */
const MAX_VERSIONS = 100;
const [MAX_DATASETS, MAX_FACETS, MAX_FACET] = [256, 16, 4096];
/** What ends a run is surer than what does not. */
const RANK: Readonly<Record<RunStatus, number>> = { OTHER: 0, START: 1, RUNNING: 2, ABORT: 3, FAIL: 4, COMPLETE: 5 };

/**
 * What events said over time: runs of jobs, and schemas of data sets. In whatever order the events of a run come, and however often, its record is the same. Holds no clock and
 * does no I/O.
 */
export class LineageHistory {
  readonly #runs = new Map<string, Run>();
  readonly #schemas = new Map<string, SchemaVersion[]>();

  /** Takes in an event that `readLineageEvent` gave. */
  add(event: LineageEvent): void {
    checkArgument("event", event, "object");
    for (const dataset of [...event.inputs, ...event.outputs]) this.#schema(dataset, event.time);
    if (event.kind === "run" && event.job !== undefined) this.#run(event, resourceId(event.job.namespace, event.job.name));
  }

  /** Runs, the newest first by when they began. */
  runs(
    filter: { readonly job?: string; readonly state?: RunStatus; readonly from?: number; readonly to?: number } = {},
  ): readonly LineageRunRecord[] {
    checkArgument("filter", filter, "object");
    const { job, state, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = filter;
    const kept = [...this.#runs.values()].sort(
      (a, b) => b.startedAt - a.startedAt || compareText(a.job, b.job) || compareText(a.runId, b.runId),
    );
    return kept
      .slice(0, MAX_RUNS)
      .filter(
        (run) =>
          (job ?? run.job) === run.job && (state ?? run.state) === run.state && run.startedAt >= from && run.startedAt <= to,
      )
      .map(recordOf);
  }

  /** The versions of a schema, oldest first; of data sets with several ids those of each. */
  versions(isMeant: (id: string) => boolean): readonly SchemaVersion[] {
    checkArgument("isMeant", isMeant, "function");
    const all = [...this.#schemas].flatMap(([id, versions]) => (isMeant(id) ? versions : [])).sort(compareVersions);
    return all.filter((version, i) => i === 0 || textOf(version) !== textOf(all[i - 1] as SchemaVersion));
  }

  #run({ runId = "", eventType = "OTHER", time, inputs, outputs, runFacets = {} }: LineageEvent, job: string): void {
    const key = JSON.stringify([job, runId]);
    let run = this.#runs.get(key);
    if (run === undefined) {
      run = {
        job,
        runId,
        state: eventType,
        stateAt: time,
        startedAt: time,
        updatedAt: time,
        inputs: new Set(),
        outputs: new Set(),
        facets: new Map(),
        truncated: false,
      };
      this.#runs.set(key, run);
      if (this.#runs.size >= MAX_RUNS + SLACK) this.#forget();
    }
    run.startedAt = Math.min(run.startedAt, time);
    run.updatedAt = Math.max(run.updatedAt, time);
    const [now, before] = [ended(eventType), ended(run.state)];
    const newer = time - run.stateAt || RANK[eventType] - RANK[run.state];
    if (now !== before ? now : newer > 0) [run.state, run.stateAt] = [eventType, time];
    for (const [names, datasets] of [
      [run.inputs, inputs],
      [run.outputs, outputs],
    ] as const) {
      for (const { namespace, name } of datasets) names.add(resourceId(namespace, name));
      if (first(names, MAX_DATASETS)) run.truncated = true;
    }
    for (const [name, facet] of Object.entries(runFacets)) {
      const text = JSON.stringify(facet);
      const known = run.facets.get(name);
      if (text.length > MAX_FACET) run.truncated = true;
      else if (known === undefined || known.time < time || (known.time === time && known.text < text))
        run.facets.set(name, { time, text });
    }
    if (first(run.facets, MAX_FACETS)) run.truncated = true;
  }

  #forget(): void {
    const byStart = [...this.#runs].sort(([, a], [, b]) => b.startedAt - a.startedAt);
    for (const [key] of byStart.slice(MAX_RUNS)) this.#runs.delete(key);
  }

  #schema({ namespace, name, facets }: EventDataset, time: number): void {
    const fields = (
      facets["schema"] as { readonly fields?: readonly { readonly name: string; readonly type?: string }[] } | undefined
    )?.fields;
    if (fields === undefined) return;
    const columns = Object.fromEntries(fields.map((field) => [field.name, field.type ?? null]));
    const id = resourceId(namespace, name);
    const versions = this.#schemas.get(id) ?? [];
    const version = { time, columns };
    if (versions.some((known) => compareVersions(known, version) === 0)) return;
    versions.push(version);
    versions.sort(compareVersions);
    // Of what stays the same only where it began and was seen last is needed.
    for (let i = versions.length - 2; i > 0; i--) {
      const [a, b, c] = [versions[i - 1], versions[i], versions[i + 1]].map((one) => textOf(one as SchemaVersion));
      if (a === b && b === c) versions.splice(i, 1);
    }
    if (versions.length > MAX_VERSIONS) versions.shift();
    this.#schemas.set(id, versions);
  }
}

/**
 * What changed between two versions of a schema; where there is none, it has no columns.
 *
 * @example
 * ```ts
 * import { schemaChanges } from "@seneschal/governance";
 * const changes = schemaChanges({ time: 1, columns: { id: "int" } }, { time: 2, columns: { id: "bigint" } });
 * console.log(changes.retyped); // [ { column: 'id', from: 'int', to: 'bigint' } ]
 * ```
 */
export function schemaChanges(from: SchemaVersion | undefined, to: SchemaVersion | undefined): SchemaChanges {
  const [before, after] = [from?.columns ?? {}, to?.columns ?? {}];
  const typed = (columns: SchemaVersion["columns"], other: SchemaVersion["columns"]) =>
    Object.keys(columns)
      .filter((column) => !Object.hasOwn(other, column))
      .sort()
      .map((column) => ({ column, type: columns[column] ?? null }));
  const retyped = Object.keys(after)
    .filter((column) => Object.hasOwn(before, column) && before[column] !== after[column])
    .sort()
    .map((column) => ({ column, from: before[column] ?? null, to: after[column] ?? null }));
  return { added: typed(after, before), removed: typed(before, after), retyped };
}

function ended(state: RunStatus): boolean {
  return RANK[state] >= RANK.ABORT;
}

function recordOf({ stateAt, inputs, outputs, facets, ...run }: Run): LineageRunRecord {
  return {
    ...run,
    endedAt: ended(run.state) ? stateAt : undefined,
    inputs: [...inputs].sort(),
    outputs: [...outputs].sort(),
    facets: Object.fromEntries(
      [...facets].sort(([a], [b]) => compareText(a, b)).map(([name, { text }]) => [name, JSON.parse(text)]),
    ),
  };
}

/** Takes out the last by name, beyond so many. True where there was one. */
function first(names: Pick<Set<string>, "size" | "delete"> & { keys(): Iterable<string> }, most: number): boolean {
  if (names.size <= most) return false;
  for (const name of [...names.keys()].sort().slice(most)) names.delete(name);
  return true;
}

function textOf({ columns }: SchemaVersion): string {
  return JSON.stringify(Object.entries(columns).sort(([a], [b]) => compareText(a, b)));
}

function compareVersions(a: SchemaVersion, b: SchemaVersion): number {
  return a.time - b.time || compareText(textOf(a), textOf(b));
}

function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
