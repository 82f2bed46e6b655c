import { openapi } from "@seneschal/contract";
import { gatewayErrors } from "@seneschal/contract/gateway";
import { adminRoles } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servedRoutes } from "../../src/gateway/index.ts";
import { openRig, type Rig } from "../gateway/rig.ts";
import { probe, schemathesis } from "./schemathesis.ts";

if (schemathesis === undefined) console.warn("no Schemathesis: the gateway is not probed by it");

describe.skipIf(schemathesis === undefined)(
  "an independent tester finds no 5xx, no undocumented status, no broken schema",
  () => {
    const document = openapi(servedRoutes, { title: "Gateway", version: "test", errors: gatewayErrors });
    let rig: Rig;
    beforeAll(async () => {
      rig = await openRig();
    });
    afterAll(() => rig?.close());

    const target = () => ({ url: `https://localhost:${rig.server.port}`, document, ca: rig.dev.ca });

    it.each(adminRoles)("as %s, by certificate", async (role) => {
      const admin = rig.dev.organizations["acme"]?.admins[role];
      const identity = { cert: admin?.certificate ?? "", key: admin?.private_key ?? "" };
      const { clean, text } = await probe({ ...target(), identity });
      expect(clean, text).toBe(true);
    });
  },
);
