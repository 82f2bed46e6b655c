/** What docs/status.md says is checked as far as a machine can. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Contract } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { storageContract } from "@seneschal/contract/storage";
import { expect, test } from "vitest";
import { ROOT } from "./fixture-tree.ts";

const rows = [...readFileSync(join(ROOT, "docs/status.md"), "utf8").matchAll(/^\| (.+?) \| (\w+) \| ?(.*?) ?\|$/gm)]
  .map(([, row = "", state = "", remark = ""]) => ({ row, state, remark }))
  .filter(({ row }) => row !== "row");

/** Parameters are named differently in the documents and in the contracts; only their places count. */
const place = (text: string): string => text.replace(/\{[^}]+\}|:[a-z_]+/g, "{}").replace(/\/$/, "");
const states = new Map(rows.map(({ row, state }) => [place(row.replaceAll("`", "")), state]));
const stated = (contract: Contract) =>
  Object.entries(contract)
    .filter(([, { extension }]) => extension !== true)
    .map(([, { method, path }]) => ({ at: place(`${method} ${path}`) }));

test("every row has a state; what works names a test, what does not says why", () => {
  expect(rows.length).toBeGreaterThan(300);
  for (const { row, state, remark } of rows) {
    expect(["works", "partly", "missing"], row).toContain(state);
    expect(remark, row).not.toBe("");
    if (state === "works") expect(remark, row).toMatch(/\.test\.ts/);
  }
});

test("every named file exists", () => {
  for (const { row, remark } of rows) {
    for (const [, file = ""] of remark.matchAll(/`([^`]+\.(?:test\.ts|md))`/g)) {
      expect(existsSync(join(ROOT, /^(docs|tools)\//.test(file) ? "" : "packages", file)), `${row}: ${file}`).toBe(true);
    }
  }
});

test("every route of the gateway's and the storage node's documents is listed and works, in part at least: all are served", () => {
  for (const { at } of [...stated(gatewayContract), ...stated(storageContract)])
    expect([at, states.get(at)]).toEqual([at, expect.stringMatching(/works|partly/)]);
});
