import type { z } from "zod";
import { analyseSql } from "../sql/analyse.ts";
import { parseSql } from "../sql/parse-sql.ts";
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
import { type EventDataset, type LineageEvent, readLineageEvent } from "./read-event.ts";
import { resourceId } from "./resource-id.ts";
import type { ColumnLink, Link } from "./types.ts";

type NewLink = Omit<Link, "job" | "timestamp"> & { readonly source: string; readonly target: string };

/** What is kept of a run until it ends. */
interface Run {
  readonly job: string;
  inputs: Map<string, EventDataset>;
  outputs: Map<string, EventDataset>;
  facets: Readonly<Record<string, unknown>>;
}

const MAX_OPEN_RUNS = 100_000;

/**
 * Folds OpenLineage events into a graph: events of one run are one run, a run's links count from COMPLETE on, ABORT and FAIL leave none, a newer version of a
 * job replaces its links, repeating an event changes nothing, `symlinks` and RENAME unite ids. Links are inputs x outputs, narrowed by column
 * lineage; a `sql` facet is parsed where no column lineage is given.
 */
export class LineageIngest {
  readonly #graph: LineageGraph;
  readonly #sql: SqlParser | undefined;
  readonly #runs = new Map<string, Run>();

  constructor(graph: LineageGraph, sql?: SqlParser) {
    this.#graph = graph;
    this.#sql = sql;
  }

  /** Reads and applies one event. Throws `validation_failed` for what is no event; everything else is a warning. */
  add(raw: unknown, now: number): readonly LineageWarning[] {
    const event = readLineageEvent(raw, now);
    const warnings = [...event.warnings];
    this.#graph.batch(() => {
      for (const dataset of [...event.inputs, ...event.outputs]) this.#describe(dataset, event.time);
      this.#follow(event, warnings);
    });
    return warnings;
  }

  #follow(event: LineageEvent, warnings: LineageWarning[]): void {
    const { job } = event;
    if (job === undefined) {
      for (const dataset of event.outputs) this.#declareOwnLineage(dataset, event.time);
      return;
    }
    const jobId = resourceId(job.namespace, job.name);
    if (event.kind === "job") {
      const links = this.#links(event.inputs, event.outputs, job.facets);
      this.#graph.setJobLinks(jobId, links, event.time);
      return;
    }
    const runId = event.runId ?? "";
    const key = `${jobId}\0${runId}`;
    const run = this.#runs.get(key) ?? { job: jobId, inputs: new Map(), outputs: new Map(), facets: {} };
    if (this.#runs.size < MAX_OPEN_RUNS || this.#runs.has(key)) this.#runs.set(key, run);
    else
      warnings.push({ code: "too_many_open_runs", path: "run.runId", message: "earlier events of this run are not remembered" });
    for (const dataset of event.inputs) run.inputs.set(idOf(dataset), merged(run.inputs.get(idOf(dataset)), dataset));
    for (const dataset of event.outputs) run.outputs.set(idOf(dataset), merged(run.outputs.get(idOf(dataset)), dataset));
    run.facets = { ...run.facets, ...job.facets };
    if (event.eventType === "ABORT" || event.eventType === "FAIL") this.#runs.delete(key);
    else if (event.eventType === "COMPLETE") {
      const links = this.#links([...run.inputs.values()], [...run.outputs.values()], run.facets);
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
    const fields = (facets["schema"] as z.infer<typeof schemaFacet> | undefined)?.fields ?? [];
    const owners = (facets["ownership"] as z.infer<typeof ownershipFacet> | undefined)?.owners?.map((owner) => owner.name);
    const columns = Object.fromEntries(fields.map((field) => [field.name, field.type === undefined ? {} : { type: field.type }]));
    const known = this.#graph.info(id);
    this.#graph.declare(
      {
        id,
        ...(fields.length === 0
          ? {}
          : {
              columns: Object.fromEntries(
                Object.entries(columns).map(([name, column]) => [name, { ...known?.columns[name], ...column }]),
              ),
            }),
        ...(owners === undefined ? {} : { owners }),
      },
      time,
    );
    this.#tags(id, facets["tags"] as z.infer<typeof tagsFacet> | undefined, time);
    for (const link of (facets["symlinks"] as z.infer<typeof symlinksFacet> | undefined)?.identifiers ?? []) {
      this.#graph.alias(resourceId(link.namespace, link.name), id, time);
    }
  }

  /** Tags with a tier's name as their value (`classification: RESTRICTED`) or a plain key become declared facts. */
  #tags(id: string, facet: z.infer<typeof tagsFacet> | undefined, time: number): void {
    const tiers = this.#graph.policy?.tiers ?? ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"];
    for (const tag of facet?.tags ?? []) {
      const tier = tiers.find((t) => t === tag.value.toUpperCase());
      const info = this.#graph.info(id);
      const before = tag.field === undefined ? info?.direct : info?.columns[tag.field]?.direct;
      const direct = {
        tier: tier ?? before?.tier ?? tiers[0] ?? "PUBLIC",
        tags: tier === undefined ? [...new Set([...(before?.tags ?? []), tag.key])] : (before?.tags ?? []),
      };
      if (tag.field === undefined) this.#graph.declare({ id, direct }, time);
      else this.#graph.declare({ id, columns: { [tag.field]: { ...info?.columns[tag.field], direct } } }, time);
    }
  }

  #links(
    inputs: readonly EventDataset[],
    outputs: readonly EventDataset[],
    jobFacets: Readonly<Record<string, unknown>>,
  ): NewLink[] {
    const links: NewLink[] = [];
    const bySql = this.#sqlColumns(inputs, outputs, jobFacets);
    for (const output of outputs) {
      const target = idOf(output);
      const operation = operationOf(output, jobFacets);
      const columns = columnsOf(output) ?? bySql.get(target);
      const sources = columns === undefined ? new Map<string, ColumnLink[]>() : columns;
      const named = sources.size > 0 ? [...sources.keys()] : inputs.map(idOf);
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

  /** Column lineage read from the `sql` facet, for outputs whose table the statement writes. */
  #sqlColumns(
    inputs: readonly EventDataset[],
    outputs: readonly EventDataset[],
    facets: Readonly<Record<string, unknown>>,
  ): Map<string, Map<string, ColumnLink[]>> {
    const found = new Map<string, Map<string, ColumnLink[]>>();
    const sql = facets["sql"] as z.infer<typeof sqlFacet> | undefined;
    if (this.#sql === undefined || sql === undefined || outputs.some((output) => columnsOf(output) !== undefined)) return found;
    const byName = (table: string, among: readonly EventDataset[]) => among.find((d) => sameTable(d.name, table));
    const schemaOf = (table: string) => {
      const dataset = byName(table, inputs);
      const columns = dataset === undefined ? undefined : Object.keys(this.#graph.info(idOf(dataset))?.columns ?? {});
      return columns === undefined || columns.length === 0 ? undefined : columns;
    };
    const { statements, failed } = parseSql(this.#sql, sql.query, sql.dialect);
    const { results, unexplained, unread } = analyseSql(statements, schemaOf);
    // What is not read whole narrows nothing: every input may go anywhere.
    if (failed + unexplained.length + unread.length > 0) return found;
    const whole = new Map<string, Set<string>>();
    for (const result of results) {
      const output = result.table === undefined ? (outputs.length === 1 ? outputs[0] : undefined) : byName(result.table, outputs);
      if (output === undefined) continue;
      const sources = found.get(idOf(output)) ?? new Map<string, ColumnLink[]>();
      found.set(idOf(output), sources);
      const passesWhole = (id: string) => whole.set(idOf(output), (whole.get(idOf(output)) ?? new Set()).add(id));
      const note = (table: string, link: ColumnLink) => {
        const input = byName(table, inputs);
        if (input === undefined) return;
        if (link.from === "*") passesWhole(idOf(input));
        sources.set(idOf(input), [...(sources.get(idOf(input)) ?? []), link]);
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
  const note = (source: string, links: readonly ColumnLink[]) => sources.set(source, [...(sources.get(source) ?? []), ...links]);
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

/** `public.orders` and `db.public.orders` are one table when one name ends in the other. */
function sameTable(a: string, b: string): boolean {
  const x = a.toLowerCase();
  const y = b.toLowerCase();
  return x === y || x.endsWith(`.${y}`) || y.endsWith(`.${x}`) || x.endsWith(`/${y}`);
}
