import { checkArgument } from "@seneschal/kernel";
import { panels } from "./series.ts";
import type { Simulation } from "./simulate.ts";
import { summarise } from "./summary.ts";

const BLOCKS = " ▁▂▃▄▅▆▇█";

/** Draws a simulation for a terminal: a spark line per series, then a table of figures. */
export function plotText(simulation: Simulation, columns = 72): string {
  checkArgument("simulation", simulation, "object");
  const lines: string[] = [];
  for (const { title, unit, top, from, to, lines: series } of panels(simulation, columns)) {
    lines.push(`${title} (${unit}; full height is ${round(top)}; ${hours(from)} to ${hours(to)})`);
    const width = Math.max(...series.map(({ name }) => name.length), 0);
    for (const { name, values } of series) lines.push(`  ${name.padEnd(width)} |${values.map((v) => block(v / top)).join("")}|`);
    lines.push("");
  }
  lines.push("tenant            jobs  finished  refusals  mean wait  p95 wait  slowdown  makespan  share");
  for (const { tenant, jobs, finished, refusals, meanWait, p95Wait, boundedSlowdown, makespan, share } of summarise(simulation))
    lines.push(
      [
        tenant.padEnd(14),
        String(jobs).padStart(8),
        String(finished).padStart(10),
        String(refusals).padStart(10),
        minutes(meanWait).padStart(11),
        minutes(p95Wait).padStart(10),
        String(round(boundedSlowdown)).padStart(10),
        hours(makespan).padStart(10),
        `${(share * 100).toFixed(1)}%`.padStart(7),
      ].join(""),
    );
  lines.push(`preemptions: ${simulation.preemptions}`);
  const unfinished = simulation.jobs.flatMap(({ id, unfinished }) => (unfinished === null ? [] : [{ id, why: unfinished }]));
  lines.push(...grouped("left out of the trace", simulation.leftOut), ...grouped("not finished", unfinished));
  return `${lines.join("\n")}\n`;
}

/** Names that a line shows; the JSON has them all. */
const NAMED = 5;

/** One line for each reason: how many, and the first of them by name. */
function grouped(what: string, jobs: readonly { readonly id: string; readonly why: string }[]): readonly string[] {
  const reasons = new Map<string, string[]>();
  for (const { id, why } of jobs) {
    const known = reasons.get(why);
    if (known === undefined) reasons.set(why, [id]);
    else known.push(id);
  }
  return [...reasons].map(([why, ids]) => {
    const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
    return `${what}: ${ids.length} (${why}): ${ids.slice(0, NAMED).join(", ")}${more}`;
  });
}

function block(fraction: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * 8);
  return BLOCKS[eighths === 0 && fraction > 0 ? 1 : eighths] ?? " ";
}

function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function hours(seconds: number): string {
  return `${round(seconds / 3600)} h`;
}

function minutes(seconds: number): string {
  return `${round(seconds / 60)} min`;
}
