import { spawnSync } from "node:child_process";
import { serve } from "@seneschal/server-fastify";
import { describe, expect, test } from "vitest";
import { ruleFiles } from "../compose/watched.ts";
import { startStorage } from "../storage/harness.ts";

/** On the path, or named: Debian has it in the package `prometheus`. */
const promtool = process.env["PROMTOOL"] ?? "promtool";
const installed = spawnSync(promtool, ["--version"]).status === 0;

describe.skipIf(!installed)("promtool (skipped: not installed)", () => {
  test("takes every rule that is shipped", () => {
    const { status, stdout, stderr } = spawnSync(promtool, ["check", "rules", ...ruleFiles], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    expect(stdout.match(/SUCCESS: \d+ rules found/g)).toHaveLength(ruleFiles.length);
  });

  test("finds nothing wrong with a storage node's metrics", async () => {
    const h = await startStorage(serve);
    const input = (await h.call(undefined, "GET", "/metrics")).text;
    const checked = spawnSync(promtool, ["check", "metrics"], { input, encoding: "utf8" });
    const said = `${checked.stdout}${checked.stderr}`.trim().split("\n");
    // Names of the metrics library for every Node process.
    const ours = said.filter((line) => !/^nodejs_active_(handles|requests|resources)_total /.test(line));
    // The name is the interface's; promtool would keep the suffix for histograms.
    expect(ours).toEqual(['store_shard_delta_count non-histogram and non-summary metrics should not have "_count" suffix']);
    await h.stop();
  });
});
