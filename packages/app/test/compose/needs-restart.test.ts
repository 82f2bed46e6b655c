import { expect, it } from "vitest";
import { needsRestart, reloadable } from "../../src/compose/needs-restart.ts";
import { type ProcessConfig, processSettings } from "../../src/compose/process-settings.ts";
import { leaves } from "../../src/platform/index.ts";

const settings = leaves(processSettings).map(({ path }) => path);
const usual = processSettings.parse({});

/** A configuration in which the setting is another. */
function changed(path: readonly string[], config: unknown = usual): ProcessConfig {
  const [key = "", ...rest] = path;
  const tree = (config ?? {}) as Record<string, unknown>;
  return { ...tree, [key]: rest.length === 0 ? { changed: true } : changed(rest, tree[key]) } as ProcessConfig;
}

it("of any setting that changed it is known whether a reload takes it up, and each that none takes up is named", () => {
  const taken: string[] = [];
  for (const path of settings) {
    const named = needsRestart(usual, changed(path));
    if (named.length === 0) taken.push(path.join("."));
    else expect(named).toEqual([path.join(".")]);
  }
  const below = (setting: string) =>
    reloadable.find((one) => `${setting}.`.startsWith(`${one.replace("*", setting.split(".")[0] ?? "")}.`));
  expect(taken.filter((setting) => below(setting) === undefined)).toEqual([]);
  // None of the list is a setting that is not there.
  expect(new Set(taken.map(below))).toEqual(new Set(reloadable));
  expect(needsRestart(usual, usual)).toEqual([]);
});

it("what a service reads that is not started is nobody's", () => {
  const own = processSettings.parse({ services: ["gateway"] });
  expect(needsRestart(own, changed(["scheduler", "server", "port"], own))).toEqual([]);
  expect(needsRestart(own, changed(["gateway", "server", "port"], own))).toEqual(["gateway.server.port"]);
});
