import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseSwf, parseTrace, plotSvg, plotText, simulate, summarise } from "@seneschal/quota/simulate";
import { readText } from "../read-config.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";

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
    .action(async (trace: string, options: { cycle: number; svg?: string }) => {
      const text = await readText(resolve(host.cwd, trace), trace);
      const simulation = simulate(trace.endsWith(".swf") ? parseSwf(text) : parseTrace(text), { cycle: options.cycle });
      if (options.svg !== undefined) await writeFile(resolve(host.cwd, options.svg), plotSvg(simulation));
      result({ figures: summarise(simulation), preemptions: simulation.preemptions }, plotText(simulation));
    });
};
