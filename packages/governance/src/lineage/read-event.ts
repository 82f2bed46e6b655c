import { governanceError } from "../errors.ts";
import {
  checkedFacets,
  DATASET_FACETS,
  INPUT_FACETS,
  JOB_FACETS,
  type LineageWarning,
  OUTPUT_FACETS,
  RUN_FACETS,
} from "./facets.ts";

/** A data set as an event names it. */
export interface EventDataset {
  readonly namespace: string;
  readonly name: string;
  readonly facets: Readonly<Record<string, unknown>>;
}

/** An OpenLineage event with everything optional settled. */
export interface LineageEvent {
  readonly kind: "run" | "job" | "dataset";
  readonly eventType?: "START" | "RUNNING" | "COMPLETE" | "ABORT" | "FAIL" | "OTHER";
  /** Milliseconds. */
  readonly time: number;
  readonly runId?: string;
  readonly runFacets?: Readonly<Record<string, unknown>>;
  readonly job?: { readonly namespace: string; readonly name: string; readonly facets: Readonly<Record<string, unknown>> };
  readonly inputs: readonly EventDataset[];
  readonly outputs: readonly EventDataset[];
  readonly warnings: readonly LineageWarning[];
}

/** `"format": "uuid"` of the specification (RFC 9562), which some integrations do not keep. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const NO_UUID = "no UUID, as the specification asks: taken as it is";

type Raw = Record<string, unknown>;
const TYPES = ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] as const;

/**
 * Reads an OpenLineage event leniently (specification 2-0-2): what most integrations leave out is settled with a named warning. Throws
 * `validation_failed` only for what names neither a job nor a data set. `now` stands for a missing time.
 */
export function readLineageEvent(raw: unknown, now: number): LineageEvent {
  const warnings: LineageWarning[] = [];
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) throw invalid("an OpenLineage event is an object");
  const event = raw as Raw;
  for (const field of ["producer", "schemaURL"]) {
    if (typeof event[field] !== "string")
      warnings.push({
        code: `missing_${field === "producer" ? "producer" : "schema_url"}`,
        path: field,
        message: "required by the specification",
      });
  }
  const time = timeOf(event["eventTime"], now, warnings);
  const inputs = datasets(event["inputs"], "inputs", INPUT_FACETS, "inputFacets", warnings);
  const outputs = datasets(event["outputs"], "outputs", OUTPUT_FACETS, "outputFacets", warnings);
  const job = jobOf(event["job"], warnings);
  const run = event["run"] as Raw | undefined;
  const runId = typeof run?.["runId"] === "string" && run["runId"] !== "" ? run["runId"] : undefined;
  const runFacets = run === undefined || run === null ? {} : checkedFacets(run["facets"], RUN_FACETS, "run.facets", warnings);

  if (job === undefined) {
    const dataset = datasets(event["dataset"] === undefined ? [] : [event["dataset"]], "dataset", {}, "facets", warnings);
    if (dataset.length === 0 && inputs.length === 0 && outputs.length === 0) throw invalid("an event names a job or a data set");
    if (dataset.length === 0)
      warnings.push({ code: "missing_job", path: "job", message: "data sets without a job: no links are made" });
    return { kind: "dataset", time, inputs: [...inputs], outputs: [...dataset, ...outputs], warnings };
  }
  const eventType = TYPES.find((type) => type === String(event["eventType"] ?? "").toUpperCase());
  if (runId === undefined) {
    const meant = event["eventType"] !== undefined || event["run"] !== undefined;
    if (meant) warnings.push({ code: "missing_run_id", path: "run.runId", message: "read as a job event" });
    return { kind: "job", time, job, inputs, outputs, warnings };
  }
  const parent = (runFacets["parent"] as { readonly run: { readonly runId: string } } | undefined)?.run.runId;
  if (!UUID.test(runId)) warnings.push({ code: "invalid_run_id", path: "run.runId", message: NO_UUID });
  if (parent !== undefined && !UUID.test(parent))
    warnings.push({ code: "invalid_run_id", path: "run.facets.parent.run.runId", message: NO_UUID });
  if (eventType === undefined) warnings.push({ code: "missing_event_type", path: "eventType", message: "read as OTHER" });
  return { kind: "run", eventType: eventType ?? "OTHER", time, runId, runFacets, job, inputs, outputs, warnings };
}

function jobOf(raw: unknown, warnings: LineageWarning[]): LineageEvent["job"] {
  const job = raw as Raw | undefined | null;
  if (job === undefined || job === null || typeof job !== "object" || typeof job["name"] !== "string" || job["name"] === "")
    return undefined;
  if (typeof job["namespace"] !== "string")
    warnings.push({ code: "missing_namespace", path: "job.namespace", message: "read as default" });
  return {
    namespace: typeof job["namespace"] === "string" ? job["namespace"] : "default",
    name: job["name"],
    facets: checkedFacets(job["facets"], JOB_FACETS, "job.facets", warnings),
  };
}

function datasets(
  raw: unknown,
  path: string,
  extra: typeof INPUT_FACETS,
  extraKey: string,
  warnings: LineageWarning[],
): EventDataset[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) {
    warnings.push({ code: "invalid_datasets", path, message: "must be an array" });
    return [];
  }
  const found: EventDataset[] = [];
  for (const [i, item] of raw.entries()) {
    const dataset = item as Raw | null;
    const at = `${path}[${i}]`;
    if (typeof dataset !== "object" || dataset === null || typeof dataset["name"] !== "string" || dataset["name"] === "") {
      warnings.push({ code: "unnamed_dataset", path: at, message: "dropped" });
      continue;
    }
    if (typeof dataset["namespace"] !== "string")
      warnings.push({ code: "missing_namespace", path: `${at}.namespace`, message: "read as default" });
    const facets = checkedFacets(dataset["facets"], DATASET_FACETS, `${at}.facets`, warnings);
    if (extraKey !== "facets") checkedFacets(dataset[extraKey], extra, `${at}.${extraKey}`, warnings);
    found.push({
      namespace: typeof dataset["namespace"] === "string" ? dataset["namespace"] : "default",
      name: dataset["name"],
      facets,
    });
  }
  return found;
}

/** ISO 8601; without a zone it is UTC, finer fractions than milliseconds are cut. */
function timeOf(raw: unknown, now: number, warnings: LineageWarning[]): number {
  if (typeof raw !== "string") {
    warnings.push({ code: "missing_event_time", path: "eventTime", message: "the time of arrival is used" });
    return now;
  }
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(raw);
  if (!zoned) warnings.push({ code: "missing_time_zone", path: "eventTime", message: "read as UTC" });
  const cut = raw
    .trim()
    .replace(" ", "T")
    .replace(/(\.\d{3})\d+/, "$1");
  const time = Date.parse(zoned ? cut : `${cut}Z`);
  if (Number.isFinite(time)) return time;
  warnings.push({ code: "invalid_event_time", path: "eventTime", message: "the time of arrival is used" });
  return now;
}

function invalid(reason: string): Error {
  return governanceError("validation_failed", reason, { reason });
}
