import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVICE_NAMES, serviceContract } from "../service-contracts.ts";
import { ROOT } from "./fixture-tree.ts";

const titles = {
  gateway: "Key-governance gateway",
  governance: "Data governance",
  scheduler: "Scheduler",
  storage: "Storage node",
};

test.each(SERVICE_NAMES)("docs/errors.md lists every code of %s with its status, and no other", async (name) => {
  const sections = readFileSync(join(ROOT, "docs/errors.md"), "utf8").split(/^## /m);
  const section = sections.find((part) => part.startsWith(titles[name])) ?? "";
  const rows = [...section.matchAll(/^\| ([A-Za-z_]+) \| (\d+) \|/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(Object.fromEntries(rows)).toEqual((await serviceContract(name))?.errors.codes);
});
