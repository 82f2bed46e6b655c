import { CodedError, checkArgument } from "@seneschal/kernel";
import type { QuotaErrorCode } from "../errors.ts";
import type { Job, LeftOut, Workload } from "./workload.ts";

/**
 * Reads the Standard Workload Format of the Parallel Workloads Archive (version 2.2: 18 numbers per job, `;` begins a
 * comment, -1 is unknown). Groups become tenants `g<n>`, users `u<n>`; processors become nodes by the header's
 * `MaxProcs` over `MaxNodes`. Jobs that never ran or asked for nothing are left out, each by its name (`leftOut`); none is made to fit.
 * Throws `invalid_trace`.
 */
export function parseSwf(text: string): Workload {
  checkArgument("text", text, "string");
  const header = new Map<string, number>();
  const jobs: Job[] = [];
  const leftOut: LeftOut[] = [];
  const ids = new Set<string>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line.startsWith(";")) {
      const [, key, value] = /^;\s*(MaxNodes|MaxProcs)\s*:\s*(\d+)/.exec(line) ?? [];
      if (key !== undefined) header.set(key, Number(value));
      continue;
    }
    if (line === "") continue;
    const numbers = line.split(/\s+/).map(Number);
    if (numbers.length !== 18 || numbers.some((n) => !Number.isFinite(n)))
      throw new CodedError<QuotaErrorCode>("invalid_trace", `line ${index + 1}: expected 18 numbers`, { line: index + 1 });
    const [id, submit, , run, allocated, , , wanted, walltime, , , user, group] = numbers as readonly number[] as SwfRow;
    const procs = wanted > 0 ? wanted : allocated;
    const name = `j${String(id).padStart(8, "0")}`;
    const why = ids.has(name)
      ? "an earlier line has its number"
      : submit < 0
        ? "no time of submission"
        : procs <= 0
          ? "no number of processors"
          : run < 0
            ? "never ran"
            : undefined;
    ids.add(name);
    if (why !== undefined) {
      leftOut.push({ id: name, why });
      continue;
    }
    jobs.push({
      id: name,
      submit,
      runtime: run,
      walltime: Math.max(run, walltime, 1),
      tenant: `g${group}`,
      user: `u${user}`,
      nodes: procs,
      priority: 5,
    });
  }
  const maxProcs = header.get("MaxProcs") ?? Math.max(1, ...jobs.map(({ nodes }) => nodes));
  const nodes = header.get("MaxNodes") ?? maxProcs;
  const perNode = Math.max(1, Math.floor(maxProcs / nodes));
  return {
    nodes,
    quotas: [],
    jobs: jobs.map((job) => ({ ...job, nodes: Math.ceil(job.nodes / perNode) })).sort((a, b) => a.submit - b.submit),
    leftOut,
  };
}

type SwfRow = readonly [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  ...number[],
];
