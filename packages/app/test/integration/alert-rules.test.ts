import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";

const folder = new URL("../../../../ops/prometheus/", import.meta.url).pathname;
const promtool = spawnSync("promtool", ["--version"]).status === 0;

if (!promtool) it.skip("promtool is not installed (apt-get install prometheus)", () => {});
else
  it.each(readdirSync(folder))("promtool reads the rules of %s", (name) => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", `${folder}${name}`], { encoding: "utf8" });
    expect(status, stdout + stderr).toBe(0);
  });
