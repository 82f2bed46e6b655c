import { checkOptions } from "@seneschal/kernel";

/** A data set as a job reads or writes it. */
export interface RunDataset {
  readonly namespace: string;
  readonly name: string;
  readonly fields?: readonly { readonly name: string; readonly type?: string }[];
  /** Of an output: the columns each of its columns is made from. */
  readonly columnLineage?: Readonly<Record<string, readonly RunInputField[]>>;
}

/** A column that an output column is made from. */
export interface RunInputField {
  readonly namespace: string;
  readonly name: string;
  readonly field: string;
  readonly type?: "DIRECT" | "INDIRECT";
  /** Such as IDENTITY, TRANSFORMATION, AGGREGATION; JOIN, FILTER, GROUP_BY, SORT, WINDOW, CONDITIONAL. */
  readonly subtype?: string;
  /** The value cannot be read from the output any more. */
  readonly masking?: boolean;
}

export interface RunOptions {
  /** URI of the program that emits. */
  readonly producer: string;
  /** A UUID, the same for all events of the run. */
  readonly runId: string;
  readonly job: { readonly namespace: string; readonly name: string; readonly sql?: string };
  /** The run that this one is part of. */
  readonly parent?: { readonly runId: string; readonly namespace: string; readonly name: string };
}

/** What one event says of its run. */
export interface RunState {
  readonly inputs?: readonly RunDataset[];
  readonly outputs?: readonly RunDataset[];
  /** Of a failure. */
  readonly error?: { readonly message: string; readonly programmingLanguage: string };
}

/** An OpenLineage RunEvent, ready to be sent. */
export interface RunEvent {
  readonly eventType: "START" | "RUNNING" | "COMPLETE" | "ABORT" | "FAIL" | "OTHER";
  readonly eventTime: string;
  readonly producer: string;
  readonly schemaURL: string;
  readonly run: { readonly runId: string; readonly facets: Facets };
  readonly job: { readonly namespace: string; readonly name: string; readonly facets: Facets };
  readonly inputs: readonly { readonly namespace: string; readonly name: string; readonly facets: Facets }[];
  readonly outputs: readonly { readonly namespace: string; readonly name: string; readonly facets: Facets }[];
}

type Facets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const SPEC = "https://openlineage.io/spec";

/** Facets as a producer writes them, by the file of their schema. */
export function facetsOf(producer: string) {
  return (schema: string, body: Readonly<Record<string, unknown>>) => ({
    _producer: producer,
    _schemaURL: `${SPEC}/facets/${schema}`,
    ...body,
  });
}

/**
 * The events of one run of a job, valid under OpenLineage 2-0-2 with its facets' schemas. Sends nothing and reads no clock: `time` is in milliseconds, the
 * event goes to any OpenLineage receiver, such as this service's `POST /api/v1/lineage`.
 *
 * @example
 * ```ts
 * import { lineageRun } from "@seneschal/governance";
 * const run = lineageRun({
 *   producer: "https://example.com/etl",
 *   runId: "0190d3a6-6f6e-7a7b-8c1d-2f3e4d5c6b7a",
 *   job: { namespace: "etl", name: "load" },
 * });
 * const event = run("COMPLETE", Date.UTC(2026, 0, 1), { outputs: [{ namespace: "dwh", name: "customers" }] });
 * console.log(event.eventTime, event.outputs[0]?.name); // 2026-01-01T00:00:00.000Z customers
 * ```
 */
export function lineageRun(options: RunOptions) {
  checkOptions("options", options, { producer: "string", runId: "string", job: "object", parent: "object?" });
  const { producer, runId, job, parent } = options;
  const facet = facetsOf(producer);
  const dataset = ({ namespace, name, fields, columnLineage }: RunDataset) => ({
    namespace,
    name,
    facets: {
      ...(fields && { schema: facet("1-2-0/SchemaDatasetFacet.json", { fields: fields.map((field) => ({ ...field })) }) }),
      ...(columnLineage && {
        columnLineage: facet("1-2-0/ColumnLineageDatasetFacet.json", {
          fields: Object.fromEntries(
            Object.entries(columnLineage).map(([column, from]) => [column, { inputFields: from.map(inputField) }]),
          ),
        }),
      }),
    },
  });
  return (eventType: RunEvent["eventType"], time: number, { inputs = [], outputs = [], error }: RunState = {}): RunEvent => ({
    eventType,
    eventTime: new Date(time).toISOString(),
    producer,
    schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: {
      runId,
      facets: {
        ...(parent && {
          parent: facet("1-2-0/ParentRunFacet.json", {
            run: { runId: parent.runId },
            job: { namespace: parent.namespace, name: parent.name },
          }),
        }),
        ...(error && { errorMessage: facet("1-0-1/ErrorMessageRunFacet.json", { ...error }) }),
      },
    },
    job: {
      namespace: job.namespace,
      name: job.name,
      facets: { ...(job.sql !== undefined && { sql: facet("1-1-0/SQLJobFacet.json", { query: job.sql }) }) },
    },
    inputs: inputs.map(dataset),
    outputs: outputs.map(dataset),
  });
}

function inputField({ namespace, name, field, type = "DIRECT", subtype, masking = false }: RunInputField) {
  return {
    namespace,
    name,
    field,
    transformations: [{ type, subtype: subtype ?? (type === "DIRECT" ? "IDENTITY" : "FILTER"), masking }],
  };
}
