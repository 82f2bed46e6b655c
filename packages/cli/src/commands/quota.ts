import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type AllocationRequest, PREEMPTION_MODES, PROFILES, type PreemptionMode } from "@seneschal/quota";
import { parseSwf, parseTrace, plotSvg, plotText, simulate, summarise } from "@seneschal/quota/simulate";
import { Option } from "commander";
import { readText } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

interface SimulateOptions {
  readonly cycle: number;
  readonly svg?: string;
  readonly profile: keyof typeof PROFILES;
  readonly reservations: boolean;
  readonly preemption: PreemptionMode;
  readonly checkpoint: AllocationRequest["checkpoint"];
  readonly requeue: AllocationRequest["requeuePolicy"];
}

/** `seneschal quota simulate`: a workload through the very functions that the scheduler runs, in simulated time. */
export const addQuota: AddCommand = (program, { host, result }) => {
  program
    .command("quota")
    .description("quotas")
    .command("simulate")
    .description("run a trace through the quota core and draw utilisation, share and wait")
    .argument("<trace>", "submit/complete lines, or a workload in the Standard Workload Format (.swf)")
    .option("--cycle <seconds>", "between scheduling cycles", wholeNumber, 60)
    .option("--svg <file>", "write the plot as SVG")
    .addOption(new Option("--profile <name>", "weights of the score").choices(Object.keys(PROFILES)).default("default"))
    .option("--no-reservations", "keep no nodes for the first that waits")
    .addOption(new Option("--preemption <mode>", "how running work gives way").choices(PREEMPTION_MODES).default("requeue"))
    .addOption(new Option("--checkpoint <kind>", "of jobs that do not say").choices(["auto", "manual", "none"]).default("none"))
    .addOption(
      new Option("--requeue <policy>", "of jobs that do not say")
        .choices(["never", "on_node_failure", "always"])
        .default("never"),
    )
    .action(async (trace: string, options: SimulateOptions) => {
      const text = await readText(host, trace);
      const { cycle, profile, reservations, preemption, checkpoint, requeue } = options;
      const simulation = simulate(trace.endsWith(".swf") ? parseSwf(text) : parseTrace(text), {
        cycle,
        checkpoint,
        requeue,
        plan: { weights: { default: PROFILES[profile] }, reservations, preemption },
      });
      if (options.svg !== undefined) await writeFile(resolve(host.cwd, options.svg), plotSvg(simulation));
      const { preemptions, leftOut } = simulation;
      const unfinished = simulation.jobs.filter((job) => job.unfinished !== null).map(({ id, unfinished: why }) => ({ id, why }));
      result({ figures: summarise(simulation), preemptions, left_out: leftOut, unfinished }, plotText(simulation));
    });
};
