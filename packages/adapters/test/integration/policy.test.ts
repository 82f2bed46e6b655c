import { embeddedPolicyEngine, opaBuild, opaServerPolicyEngine, opaWasmPolicyEngine } from "@seneschal/adapters/policy";
import { policyEngineSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { findOpa } from "../policy/find-opa.ts";
import { startOpa } from "../policy/start-opa.ts";
import { runner } from "../suite-runner.ts";

const opa = findOpa();
const where = opa ?? "a real OPA (none is installed: tools/install-opa.sh)";

describe.skipIf(opa === undefined)(`the OPA server engine against ${where}`, () => {
  let server: Awaited<ReturnType<typeof startOpa>>;
  beforeAll(async () => {
    server = await startOpa(opa as string);
  });
  afterAll(() => server.stop());
  policyEngineSuite(runner, {
    open: async () => opaServerPolicyEngine({ url: server.url, timeout: 10_000 }),
    capabilities: { clock: false },
  });
  describe("behind the embedded one, as services run it", () => {
    policyEngineSuite(runner, {
      open: async () => opaServerPolicyEngine({ url: server.url, timeout: 10_000, before: embeddedPolicyEngine() }),
      capabilities: { clock: false },
    });
  });
});

describe.skipIf(opa === undefined)(`the wasm engine with bundles of ${where}`, () => {
  policyEngineSuite(runner, {
    open: async () => opaWasmPolicyEngine({ build: opaBuild(opa) }),
    capabilities: { clock: false },
  });
});
