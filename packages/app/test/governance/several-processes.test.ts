import { openMemoryStore } from "@seneschal/adapters/memory";
import { serve } from "@seneschal/server-fastify";
import { afterEach, expect, test } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { type Rig, startRig } from "./rig.ts";

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

test("what one process has acknowledged another knows at its next request, though nobody has told it yet", async () => {
  const store = openMemoryStore(governanceSchema);
  // As over a server, which tells of a commit some time after it was answered: here never.
  const deaf = { ...store, capabilities: { ...store.capabilities, multiProcess: true }, subscribe: () => () => undefined };
  for (let i = 0; i < 2; i++) rigs.push(await startRig(serve, { store: deaf }));
  const [one, two] = rigs as [Rig, Rig];
  const put = (tier: string) => one.call("writer", "PUT", "/api/v1/resources/crm", { tier });
  for (const tier of ["PUBLIC", "RESTRICTED"]) {
    expect(await put(tier)).toMatchObject({ status: 200, body: { classification: { tier } } });
    expect((await two.call("reader", "GET", "/api/v1/resources/crm")).body.classification.tier).toBe(tier);
  }
});
