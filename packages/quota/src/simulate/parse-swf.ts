import { CodedError } from "@seneschal/core";
import type { QuotaErrorCode } from "../errors.ts";
import type { Job, Workload } from "./workload.ts";

/**
 * Reads the Standard Workload Format of the Parallel Workloads Archive (version 2.2: 18 numbers per job, `;` begins a
 * comment, -1 is unknown). Groups become tenants `g<n>`, users `u<n>`; processors become nodes by the header's
 * `MaxProcs` over `MaxNodes`. Jobs that never ran or asked for nothing are left out. Throws `invalid_trace`.
 */
export function parseSwf(text: string): Workload {
  const header = new Map<string, number>();
  const jobs: Job[] = [];
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
    if (run < 0 || procs <= 0 || submit < 0) continue;
    jobs.push({
      id: `j${String(id).padStart(8, "0")}`,
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
    jobs: jobs
      .map((job) => ({ ...job, nodes: Math.min(nodes, Math.ceil(job.nodes / perNode)) }))
      .sort((a, b) => a.submit - b.submit),
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
