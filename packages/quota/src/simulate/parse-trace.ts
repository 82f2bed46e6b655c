import { CodedError, checkArgument } from "@seneschal/kernel";
import type { QuotaErrorCode } from "../errors.ts";
import { checkSettings, type TenantSettings } from "../state/tenant.ts";
import type { Job, QuotaChange, Workload } from "./workload.ts";

/**
 * Reads a trace: one line per event, `verb key=value ...`, `#` begins a comment, times in seconds.
 *
 * ```text
 * cluster nodes=64
 * tenant name=physics max_nodes=32 fair_share_target=0.5 gpu_hours_budget=100
 * submit at=0 id=a tenant=physics user=ada nodes=4 runtime=3600 priority=5 checkpoint=auto requeue=always
 * complete at=1800 id=a            # ends earlier than its runtime says
 * tenant at=600 name=physics max_nodes=8
 * ```
 *
 * Throws `invalid_trace` with the line.
 */
export function parseTrace(text: string): Workload {
  checkArgument("text", text, "string");
  let nodes = 0;
  const quotas: QuotaChange[] = [];
  const jobs = new Map<string, Job>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.replace(/#.*$/, "").trim();
    if (line === "") continue;
    const fields = new Fields(line, index + 1);
    switch (fields.verb) {
      case "cluster":
        nodes = fields.whole("nodes");
        break;
      case "tenant":
        quotas.push({ at: fields.number("at", 0), tenant: fields.text("name"), settings: settingsOf(fields) });
        break;
      case "submit": {
        const id = fields.text("id");
        if (jobs.has(id)) throw fields.wrong(`job ${id} is submitted twice`);
        const runtime = fields.number("runtime", Number.POSITIVE_INFINITY);
        jobs.set(id, {
          id,
          submit: fields.number("at"),
          runtime,
          walltime: fields.number("walltime", Number.isFinite(runtime) ? runtime : 3600),
          tenant: fields.text("tenant"),
          user: fields.text("user", "user"),
          nodes: fields.whole("nodes", 1),
          priority: fields.whole("priority", 5),
          ...(fields.has("checkpoint") ? { checkpoint: fields.oneOf("checkpoint", ["auto", "manual", "none"]) } : {}),
          ...(fields.has("requeue") ? { requeue: fields.oneOf("requeue", ["never", "on_node_failure", "always"]) } : {}),
        });
        break;
      }
      case "complete": {
        const job = jobs.get(fields.text("id"));
        if (job === undefined) throw fields.wrong("completes a job that was not submitted");
        // the trace says when it ended where it was recorded; what counts here is how long it can have run
        jobs.set(job.id, { ...job, runtime: Math.min(job.runtime, Math.max(0, fields.number("at") - job.submit)) });
        break;
      }
      default:
        throw fields.wrong(`unknown verb ${fields.verb}`);
    }
    fields.finish();
  }
  if (nodes === 0) throw new CodedError<QuotaErrorCode>("invalid_trace", "the trace names no cluster (cluster nodes=...)");
  const unended = [...jobs.values()].find(({ runtime }) => !Number.isFinite(runtime));
  if (unended !== undefined)
    throw new CodedError<QuotaErrorCode>("invalid_trace", `job ${unended.id} has neither a runtime nor a completion`);
  return { nodes, quotas, jobs: [...jobs.values()].sort((a, b) => a.submit - b.submit) };
}

const SETTINGS: Readonly<Record<string, keyof TenantSettings>> = {
  max_nodes: "maxNodes",
  max_concurrent_allocations: "maxConcurrentAllocations",
  gpu_hours_budget: "gpuHoursBudget",
  node_hours_budget: "nodeHoursBudget",
  fair_share_target: "fairShareTarget",
  burst_allowance: "burstAllowance",
  share: "fairShareTarget",
  burst: "burstAllowance",
};

function settingsOf(fields: Fields): Partial<TenantSettings> {
  const settings: Record<string, number> = {};
  for (const [key, field] of Object.entries(SETTINGS)) if (fields.has(key)) settings[field] = fields.number(key);
  const wrong = checkSettings(settings);
  if (wrong !== undefined) throw fields.wrong(wrong.message);
  return settings;
}

class Fields {
  readonly verb: string;
  readonly #line: number;
  readonly #values = new Map<string, string>();

  constructor(text: string, line: number) {
    this.#line = line;
    const [verb = "", ...pairs] = text.split(/\s+/);
    this.verb = verb;
    for (const pair of pairs) {
      const equals = pair.indexOf("=");
      if (equals < 1) throw this.wrong(`expected key=value, got ${pair}`);
      this.#values.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  text(key: string, fallback?: string): string {
    const value = this.#values.get(key) ?? fallback;
    this.#values.delete(key);
    if (value === undefined || value === "") throw this.wrong(`${key} is missing`);
    return value;
  }

  number(key: string, fallback?: number): number {
    if (!this.has(key) && fallback !== undefined) return fallback;
    const value = Number(this.text(key));
    if (!Number.isFinite(value) || value < 0) throw this.wrong(`${key} must be a number >= 0`);
    return value;
  }

  whole(key: string, fallback?: number): number {
    const value = this.number(key, fallback);
    if (!Number.isSafeInteger(value)) throw this.wrong(`${key} must be a whole number`);
    return value;
  }

  oneOf<W extends string>(key: string, words: readonly W[]): W {
    const word = this.text(key);
    const found = words.find((known) => known === word);
    if (found === undefined) throw this.wrong(`${key} must be ${words.join(", ")}`);
    return found;
  }

  /** Every field must have been read. */
  finish(): void {
    const [left] = this.#values.keys();
    if (left !== undefined) throw this.wrong(`${left} is not a field of ${this.verb}`);
  }

  wrong(reason: string): CodedError<QuotaErrorCode> {
    return new CodedError("invalid_trace", `line ${this.#line}: ${reason}`, { line: this.#line });
  }
}
