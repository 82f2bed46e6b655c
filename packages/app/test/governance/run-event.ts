/** A dataset by its name in the namespace `default`, or whole. */
type Dataset = string | Readonly<Record<string, unknown>>;

interface RunEventParts {
  /** The id of the run, a UUID. */
  readonly run?: string;
  readonly job?: Dataset;
  readonly inputs?: readonly Dataset[];
  readonly outputs?: readonly Dataset[];
  readonly type?: string;
  /** When it happened. */
  readonly at?: string;
}

const named = (one: Dataset) => (typeof one === "string" ? { namespace: "default", name: one } : one);

/** An OpenLineage event of a run: a job that is complete, with what it read and wrote. */
export const runEvent = ({
  run = "0190e2c0-0000-7000-8000-000000000001",
  job = "etl",
  inputs = [],
  outputs = [],
  type = "COMPLETE",
  at = "2026-02-01T00:00:00Z",
}: RunEventParts = {}) => ({
  eventType: type,
  eventTime: at,
  producer: "https://example.org/producer",
  schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  run: { runId: run },
  job: named(job),
  inputs: inputs.map(named),
  outputs: outputs.map(named),
});
