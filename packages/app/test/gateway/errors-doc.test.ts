import { readFileSync } from "node:fs";
import { gatewayCodes } from "@seneschal/contract/gateway";
import { expect, it } from "vitest";

it("docs/errors.md lists every code of the gateway with its status, and no other", () => {
  const text = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith("Key-governance gateway")) ?? "";
  const rows = [...section.matchAll(/^\| ([A-Z_]+) \| (\d+) \|/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(Object.fromEntries(rows)).toEqual(gatewayCodes);
});
