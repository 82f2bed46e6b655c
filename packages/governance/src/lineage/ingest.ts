import type * as z from "zod";
import { governanceError } from "../errors.ts";
import type { SqlParser } from "../sql/sql-parser.ts";
import type {
  columnLineageFacet,
  LineageWarning,
  lifecycleFacet,
  lineageDatasetFacet,
  ownershipFacet,
  schemaFacet,
  sqlFacet,
  symlinksFacet,
  tagsFacet,
} from "./facets.ts";
import type { LineageGraph } from "./graph.ts";
import { LineageHistory } from "./history.ts";
import { type EventDataset, type LineageEvent, readLineageEvent } from "./read-event.ts";
import { resourceId } from "./resource-id.ts";
import { readLineageSql, type SqlQuestion, type SqlReading, sameTable } from "./sql-reading.ts";
import type { ColumnLink, Link, ResourceInfo } from "./types.ts";

type NewLink = Omit<Link, "job" | "timestamp"> & { readonly source: string; readonly target: string };

/** What is kept of a run until it ends. */
interface Run {
  readonly job: string;
  inputs: Map<string, EventDataset>;
  outputs: Map<string, EventDataset>;
  facets: Readonly<Record<string, unknown>>;
  /** What was read of its SQL: `undefined` where nobody did yet. */
  reading: SqlReading | null | undefined;
}

const MAX_OPEN_RUNS = 100_000;

/** Data sets that one run may have in all. */
const MAX_RUN_DATASETS = 4096;

/** Columns that a question about SQL speaks of. */
const MAX_QUESTION_COLUMNS = 8192;

/** Links of one job from data set to data set; where there would be more, they go over a resource that stands for the job. */
const MAX_LINKS = 4096;

/**
 * Folds OpenLineage events into a graph: events of one run are one run, a run's links count from COMPLETE on, ABORT and FAIL leave none, a newer version of a
 * job replaces its links, repeating an event changes nothing, `symlinks` and RENAME unite ids. Links are inputs x outputs, narrowed by column
 * lineage; a `sql` facet is read where no column lineage is given: by whoever asks for the {@link question} and hands in the answer, else by `sql`, here.
 */
export class LineageIngest {
  readonly #graph: LineageGraph;
  readonly #sql: SqlParser | undefined;
  /** What the events said over time. */
  readonly history = new LineageHistory();
  readonly #runs = new Map<string, Run>();

  constructor(graph: LineageGraph, sql?: SqlParser) {
    this.#graph = graph;
    this.#sql = sql;
  }

  /**
   * Reads and applies one event, with what was read of the SQL that {@link question} asked about; `null`: nothing could be. Throws `validation_failed`
   * for what is no event; everything else is a warning.
   */
  add(raw: unknown, now: number, reading?: SqlReading | null): readonly LineageWarning[] {
    const event = readLineageEvent(raw, now);
    const warnings = [...event.warnings];
    this.history.add(event);
    this.#graph.batch(() => {
      for (const dataset of [...event.inputs, ...event.outputs]) this.#describe(dataset, event.time);
      this.#follow(event, reading, warnings);
    });
    return warnings;
  }

  /** The SQL that says which columns an event's outputs are made from, with the columns that are known by now. */
  question(event: LineageEvent): SqlQuestion | undefined {
    const run = this.#runOf(event);
    const outputs = [...(run?.outputs.values() ?? []), ...event.outputs];
    return this.#question([...(run?.inputs.values() ?? []), ...event.inputs], outputs, { ...run?.facets, ...event.job?.facets });
  }

  /**
   * Notes in `coming` which data sets of an event its run does not have yet; throws `validation_failed` where the run would have too many with those that are
   * noted already.
   */
  checkRun(event: LineageEvent, coming: Set<string>): void {
    const run = this.#runOf(event);
    const named = (datasets: readonly EventDataset[], known: ReadonlyMap<string, EventDataset> | undefined, side: string) =>
      datasets.flatMap((dataset) => (known?.has(idOf(dataset)) === true ? [] : [`${side} ${idOf(dataset)}`]));
    const fresh = new Set([...named(event.inputs, run?.inputs, "from"), ...named(event.outputs, run?.outputs, "to")]);
    for (const name of coming) fresh.delete(name);
    const known = (run?.inputs.size ?? 0) + (run?.outputs.size ?? 0);
    if (known + coming.size + fresh.size > MAX_RUN_DATASETS)
      throw governanceError("validation_failed", `inputs: a run has at most ${MAX_RUN_DATASETS} data sets`, {
        field: "inputs",
        limit: MAX_RUN_DATASETS,
      });
    for (const name of fresh) coming.add(name);
  }

  #runOf({ job, runId }: LineageEvent): Run | undefined {
    return job === undefined ? undefined : this.#runs.get(`${resourceId(job.namespace, job.name)}\0${runId ?? ""}`);
  }

  #follow(event: LineageEvent, reading: SqlReading | null | undefined, warnings: LineageWarning[]): void {
    const { job } = event;
    if (job === undefined) {
      for (const dataset of event.outputs) this.#declareOwnLineage(dataset, event.time);
      return;
    }
    const jobId = resourceId(job.namespace, job.name);
    if (event.kind === "job") {
      const links = this.#links(jobId, event.inputs, event.outputs, job.facets, reading);
      this.#graph.setJobLinks(jobId, links, event.time);
      return;
    }
    const runId = event.runId ?? "";
    const key = `${jobId}\0${runId}`;
    const run = this.#runs.get(key) ?? { job: jobId, inputs: new Map(), outputs: new Map(), facets: {}, reading: undefined };
    if (this.#runs.size < MAX_OPEN_RUNS || this.#runs.has(key)) this.#runs.set(key, run);
    else
      warnings.push({ code: "too_many_open_runs", path: "run.runId", message: "earlier events of this run are not remembered" });
    for (const dataset of event.inputs) run.inputs.set(idOf(dataset), merged(run.inputs.get(idOf(dataset)), dataset));
    for (const dataset of event.outputs) run.outputs.set(idOf(dataset), merged(run.outputs.get(idOf(dataset)), dataset));
    run.facets = { ...run.facets, ...job.facets };
    if (reading !== undefined && (reading !== null || job.facets["sql"] !== undefined)) run.reading = reading;
    if (event.eventType === "ABORT" || event.eventType === "FAIL") this.#runs.delete(key);
    else if (event.eventType === "COMPLETE") {
      const links = this.#links(jobId, [...run.inputs.values()], [...run.outputs.values()], run.facets, run.reading);
      // A job without data sets (a scheduler's task) must not wipe what another run said.
      if (links.length > 0 || run.outputs.size > 0) this.#graph.setJobLinks(jobId, links, event.time);
      if (this.#runs.size > MAX_OPEN_RUNS / 2) this.#runs.delete(key);
    }
  }

  /** Facts of a data set: schema, owners, tags, other names, renames, drops. */
  #describe(dataset: EventDataset, time: number): void {
    const { facets } = dataset;
    const id = idOf(dataset);
    const change = facets["lifecycleStateChange"] as z.infer<typeof lifecycleFacet> | undefined;
    const previous = change?.previousIdentifier;
    if (change?.lifecycleStateChange === "RENAME" && previous !== undefined)
      this.#graph.alias(resourceId(previous.namespace, previous.name), id, time);
    const owners = (facets["ownership"] as z.infer<typeof ownershipFacet> | undefined)?.owners?.map((owner) => owner.name);
    const columns = schemaOf(dataset);
    this.#graph.declare({ id, columns, ...(owners === undefined ? {} : { owners }) }, time, "events");
    this.#tags(id, facets["tags"] as z.infer<typeof tagsFacet> | undefined, time);
    for (const link of (facets["symlinks"] as z.infer<typeof symlinksFacet> | undefined)?.identifiers ?? []) {
      this.#graph.alias(resourceId(link.namespace, link.name), id, time);
    }
  }

  /** Tags with a tier's name as their value (`classification: RESTRICTED`) or a plain key become declared facts. */
  #tags(id: string, facet: z.infer<typeof tagsFacet> | undefined, time: number): void {
    const tiers = this.#graph.policy?.tiers ?? ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"];
    if (facet?.tags === undefined) return;
    const said = this.#graph.said(id, "events");
    const places = new Map<string | undefined, { tier: string; readonly tags: Set<string> }>();
    for (const { key, value, field } of facet.tags) {
      const before = field === undefined ? said?.direct : said?.columns[field]?.direct;
      const place = places.get(field) ?? { tier: before?.tier ?? tiers[0] ?? "PUBLIC", tags: new Set(before?.tags) };
      places.set(field, place);
      const tier = tiers.find((t) => t === value.toUpperCase());
      if (tier === undefined) place.tags.add(key);
      else place.tier = tier;
    }
    const columns: Record<string, ResourceInfo["columns"][string]> = {};
    for (const [field, { tier, tags }] of places) {
      const direct = { tier, tags: [...tags] };
      if (field === undefined) this.#graph.declare({ id, direct }, time, "events");
      else columns[field] = { direct };
    }
    if (Object.keys(columns).length > 0) this.#graph.declare({ id, columns }, time, "events");
  }

  #links(
    job: string,
    inputs: readonly EventDataset[],
    outputs: readonly EventDataset[],
    jobFacets: Readonly<Record<string, unknown>>,
    reading: SqlReading | null | undefined,
  ): NewLink[] {
    const links: NewLink[] = [];
    const bySql = this.#sqlColumns(inputs, outputs, jobFacets, reading);
    const wide = outputs.filter((output) => (columnsOf(output) ?? bySql.get(idOf(output))) === undefined);
    // Everything still reaches everything, in a sum of links instead of a product.
    const hub = inputs.length * wide.length > MAX_LINKS ? `job:${job}` : undefined;
    if (hub !== undefined)
      for (const input of inputs) links.push({ source: idOf(input), target: hub, operation: "TRANSFORM", masking: false });
    for (const output of outputs) {
      const target = idOf(output);
      const operation = operationOf(output, jobFacets);
      const columns = columnsOf(output) ?? bySql.get(target);
      const sources = columns === undefined ? new Map<string, ColumnLink[]>() : columns;
      const named = sources.size > 0 ? [...sources.keys()] : hub !== undefined ? [hub] : inputs.map(idOf);
      for (const source of new Set(named)) {
        const own = sources.get(source);
        links.push({
          source,
          target,
          operation,
          masking: own !== undefined && own.length > 0 && own.every((c) => c.masking),
          ...(own === undefined || own.length === 0 ? {} : { columns: own }),
        });
      }
    }
    return links;
  }

  #question(
    inputs: readonly EventDataset[],
    outputs: readonly EventDataset[],
    facets: Readonly<Record<string, unknown>>,
  ): SqlQuestion | undefined {
    const sql = facets["sql"] as z.infer<typeof sqlFacet> | undefined;
    if (sql === undefined || outputs.some((output) => columnsOf(output) !== undefined)) return undefined;
    // A star over a table that is left out carries the whole table.
    let left = MAX_QUESTION_COLUMNS;
    const tables = inputs.flatMap((input) => {
      const columns = Object.keys({ ...this.#graph.info(idOf(input))?.columns, ...schemaOf(input) });
      if (columns.length === 0 || columns.length > left) return [];
      left -= columns.length;
      return [[input.name, columns] as const];
    });
    return { query: sql.query, ...(sql.dialect === undefined ? {} : { dialect: sql.dialect }), tables };
  }

  /** Column lineage by the `sql` facet, for outputs whose table the statement writes. */
  #sqlColumns(
    inputs: readonly EventDataset[],
    outputs: readonly EventDataset[],
    facets: Readonly<Record<string, unknown>>,
    given: SqlReading | null | undefined,
  ): Map<string, Map<string, ColumnLink[]>> {
    const found = new Map<string, Map<string, ColumnLink[]>>();
    const question = this.#question(inputs, outputs, facets);
    if (question === undefined) return found;
    const reading = given === undefined && this.#sql !== undefined ? readLineageSql(this.#sql, question) : given;
    // What is not read whole narrows nothing: every input may go anywhere.
    if (reading === undefined || reading === null) return found;
    const byName = (table: string, among: readonly EventDataset[]) => among.find((d) => sameTable(d.name, table));
    const whole = new Map<string, Set<string>>();
    for (const result of reading.results) {
      const output = result.table === undefined ? (outputs.length === 1 ? outputs[0] : undefined) : byName(result.table, outputs);
      if (output === undefined) continue;
      const sources = found.get(idOf(output)) ?? new Map<string, ColumnLink[]>();
      found.set(idOf(output), sources);
      const passesWhole = (id: string) => whole.set(idOf(output), (whole.get(idOf(output)) ?? new Set()).add(id));
      const note = (table: string, link: ColumnLink) => {
        const input = byName(table, inputs);
        if (input === undefined) return;
        if (link.from === "*") passesWhole(idOf(input));
        const links = sources.get(idOf(input));
        if (links === undefined) sources.set(idOf(input), [link]);
        else links.push(link);
      };
      for (const column of result.columns) {
        for (const input of column.inputs)
          note(input.table, {
            from: input.field,
            to: column.name,
            type: input.type,
            subtype: input.subtype,
            masking: input.masking,
          });
      }
      for (const input of result.dataset)
        note(input.table, { from: input.field, type: input.type, subtype: input.subtype, masking: input.masking });
      // A star that could not be expanded carries everything: no columns are named for that source.
      for (const table of result.stars) {
        const input = byName(table, inputs);
        if (input !== undefined) passesWhole(idOf(input));
      }
    }
    for (const [id, sources] of found) for (const source of whole.get(id) ?? []) sources.set(source, []);
    // Inputs that the statement does not read (by another name) keep their plain link.
    for (const sources of found.values()) for (const input of inputs) if (!sources.has(idOf(input))) sources.set(idOf(input), []);
    return found;
  }

  /** A DatasetEvent that says itself what it is made from. */
  #declareOwnLineage(dataset: EventDataset, time: number): void {
    const columns = columnsOf(dataset);
    if (columns === undefined) return;
    const target = idOf(dataset);
    const links = [...columns].map(
      ([source, own]): NewLink => ({
        source,
        target,
        operation: "DECLARED",
        masking: own.length > 0 && own.every((c) => c.masking),
        ...(own.length === 0 ? {} : { columns: own }),
      }),
    );
    this.#graph.setJobLinks(`declared:${target}`, links, time);
  }
}

function idOf(dataset: { readonly namespace: string; readonly name: string }): string {
  return resourceId(dataset.namespace, dataset.name);
}

/** The columns that a data set says it has. */
function schemaOf({ facets }: EventDataset): Readonly<Record<string, { readonly type?: string }>> {
  const fields = (facets["schema"] as z.infer<typeof schemaFacet> | undefined)?.fields ?? [];
  return Object.fromEntries(fields.map(({ name, type }) => [name, type === undefined ? {} : { type }]));
}

function merged(before: EventDataset | undefined, after: EventDataset): EventDataset {
  return before === undefined ? after : { ...after, facets: { ...before.facets, ...after.facets } };
}

function operationOf(output: EventDataset, jobFacets: Readonly<Record<string, unknown>>): string {
  const change = output.facets["lifecycleStateChange"] as z.infer<typeof lifecycleFacet> | undefined;
  const type = (jobFacets["jobType"] as { readonly jobType?: unknown } | undefined)?.jobType;
  return change?.lifecycleStateChange ?? (typeof type === "string" ? type.toUpperCase() : "TRANSFORM");
}

/** Column links by source, from `columnLineage` or the generic `lineage` facet; `undefined` where neither says anything. */
function columnsOf(output: EventDataset): Map<string, ColumnLink[]> | undefined {
  const sources = new Map<string, ColumnLink[]>();
  const note = (source: string, links: readonly ColumnLink[]): void => {
    const known = sources.get(source);
    if (known === undefined) sources.set(source, [...links]);
    else known.push(...links);
  };
  const facet = output.facets["columnLineage"] as z.infer<typeof columnLineageFacet> | undefined;
  for (const [to, field] of Object.entries(facet?.fields ?? {})) {
    for (const input of field.inputFields)
      note(idOf(input), transformations(input.field, to, input.transformations, field.transformationType));
  }
  for (const input of facet?.dataset ?? [])
    note(idOf(input), transformations(input.field, undefined, input.transformations, undefined));
  const lineage = output.facets["lineage"] as z.infer<typeof lineageDatasetFacet> | undefined;
  for (const [to, field] of Object.entries(lineage?.fields ?? {})) {
    for (const input of field.inputs)
      if (input.field !== undefined) note(idOf(input), transformations(input.field, to, input.transformations, undefined));
  }
  for (const input of lineage?.inputs ?? []) {
    if (input.type !== undefined && input.type !== "DATASET") continue;
    note(idOf(input), input.field === undefined ? [] : transformations(input.field, undefined, input.transformations, undefined));
  }
  return sources.size === 0 ? undefined : sources;
}

function transformations(
  from: string,
  to: string | undefined,
  list:
    | readonly { readonly type: string; readonly subtype?: string | undefined; readonly masking?: boolean | undefined }[]
    | undefined,
  deprecated: string | undefined,
): ColumnLink[] {
  const target = to === undefined ? {} : { to };
  if (list === undefined || list.length === 0) {
    const indirect = to === undefined;
    return [
      {
        from,
        ...target,
        type: indirect ? "INDIRECT" : "DIRECT",
        subtype: indirect ? "FILTER" : "IDENTITY",
        masking: deprecated === "MASKED",
      },
    ];
  }
  return list.map((t) => ({
    from,
    ...target,
    type: t.type === "INDIRECT" ? "INDIRECT" : "DIRECT",
    subtype: t.subtype ?? (t.type === "INDIRECT" ? "FILTER" : "IDENTITY"),
    masking: t.masking === true || deprecated === "MASKED",
  }));
}
