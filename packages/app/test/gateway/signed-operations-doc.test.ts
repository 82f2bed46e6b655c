import { readFileSync } from "node:fs";
import { signedOperations } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemCall } from "../../src/gateway/ground/call.ts";
import { backups } from "../../src/gateway/oversight/collections.ts";
import { federations } from "../../src/gateway/partners/collections.ts";
import { policies } from "../../src/gateway/workspaces/collections.ts";
import { openRig, type Rig } from "./rig.ts";

const page = readFileSync(new URL("../../../../docs/gateway.md", import.meta.url), "utf8");
const documented = new Map(
  [...page.matchAll(/^\| ([a-z]+\.[a-z-]+) \| [A-Z]+ \S+ \| `\w+`[^|]*\| [^|]* \| ([^|]*)\|$/gm)].map(
    ([, operation = "", facts = ""]) => [operation, [...facts.matchAll(/`(\w+)`/g)].map(([, name]) => name).toSorted()],
  ),
);
const id = "00000000-0000-7000-8000-000000000001";

let rig: Rig;
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  rig = await openRig();
  const acme = rig.admin("acme");
  const workspace = (await acme("POST", "/api/v1/workspaces", { name: "w" })).body.id as string;
  const emergency = (await acme("POST", "/api/v1/emergency-access/request", { reason: "fire" })).body.id as string;
  // Of the others what is read here: how they come into being is not the matter.
  const at = { org_id: "acme", workspace_id: workspace, created_at: "2026-01-01T00:00:00.000Z" };
  const { services } = rig.gateway;
  await services.transact(systemCall("system:test", "acme", rig.clock.now()), async (unit) => {
    unit.insert(policies, id, { id, ...at, name: "p", version: 1 } as never);
    unit.insert(backups, id, { id, ...at, checksum: "c" } as never);
    unit.insert(federations, id, { id, ...at, partner_org_id: "partner", status: "active", serial_number: "0a" } as never);
  });
  ids = { workspace, emergency, policy: id, backup: id, federation: "partner" };
});
afterAll(() => rig.close());

test.each(Object.keys(signedOperations))("%s covers the facts that the documents name, and no other", async (operation) => {
  const { services } = rig.gateway;
  const resource = ids[operation.split(".")[0] ?? ""] ?? "";
  const covered = await services.signatures.covered(services.read, operation, resource, "acme");
  expect(Object.keys(covered).toSorted()).toEqual(documented.get(operation));
});
