/**
 * `npm run models -- [--only NAME] [--samples COUNT] [--keep COUNT]`: runs the models of `models/` so often, each state of each run against every law; the rules of
 * before a finding must break. `--keep` writes so many runs beside the model, for tests to replay. Ends with 1 when a model does not do as it should.
 */
import { parseArgs } from "node:util";
import { type Finding, findings, keepRuns, lawsOf, type ModelName, models, simulate } from "./models.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, samples: { type: "string", default: "1000" }, keep: { type: "string", default: "0" } },
});
const samples = Number(values.samples);
const keep = Number(values.keep);
const checks = [
  ...(Object.keys(models) as ModelName[])
    .filter((name) => !name.endsWith("_before"))
    .map((name) => ({ name, model: name, laws: lawsOf(name), breaks: false })),
  ...(Object.keys(findings) as Finding[]).map((name) => ({
    name,
    model: findings[name].model,
    laws: [findings[name].law],
    breaks: true,
  })),
].filter(({ name }) => values.only === undefined || name === values.only);
if (checks.length === 0) throw new Error(`no model ${values.only}`);
for (const { name, model, laws, breaks } of checks) {
  const began = Date.now();
  const { holds, broken, runs, report } = simulate(model, { samples, laws, keep: breaks ? Math.min(keep, 1) : keep });
  const took = `${Math.round((Date.now() - began) / 1000)} s`;
  console.log(
    `${holds === breaks ? "BAD " : "ok  "} ${name}: ${holds ? `${laws.length} laws hold in ${samples} runs` : `breaks ${broken.join(", ")}`}, ${took}`,
  );
  if (holds === breaks) {
    console.log(report);
    process.exitCode = 1;
  } else if (keep > 0) keepRuns(name, runs);
}
