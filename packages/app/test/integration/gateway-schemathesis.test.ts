import { openapi } from "@seneschal/contract";
import { gatewayErrors } from "@seneschal/contract/gateway";
import { adminRoles } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servedRoutes } from "../../src/gateway/index.ts";
import { openRig, type Rig } from "../gateway/rig.ts";
import { type Probe, probe, schemathesis } from "./schemathesis.ts";

if (schemathesis === undefined) console.warn("no Schemathesis: the gateway is not probed by it");

/** Minutes for each caller: two of them in every run, all where SCHEMATHESIS_EXAMPLES asks for a long one. */
const long = process.env["SCHEMATHESIS_EXAMPLES"] !== undefined;

describe.skipIf(schemathesis === undefined)(
  "an independent tester finds no 5xx, no undocumented status, no broken schema",
  () => {
    const document = openapi(servedRoutes, { title: "Gateway", version: "test", errors: gatewayErrors });
    let rig: Rig;
    beforeAll(async () => {
      rig = await openRig();
    });
    afterAll(() => rig?.close());

    const search = async (credential: Pick<Probe, "identity" | "token">): Promise<void> => {
      const url = `https://localhost:${rig.server.port}`;
      const { clean, text } = await probe({ url, document, ca: rig.dev.ca, without: ["ocsp"], ...credential });
      expect(clean, text).toBe(true);
    };

    it.each(long ? adminRoles : (["super_admin"] as const))("as %s, by certificate", async (role) => {
      const admin = rig.dev.organizations["acme"]?.admins[role];
      await search({ identity: { cert: admin?.certificate ?? "", key: admin?.private_key ?? "" } });
    });

    it.runIf(long).each(["", "super_admin"])("as a user of the role '%s', by token", async (role) => {
      const roles = role === "" ? [] : [role];
      await search({ token: rig.issuer.token({ sub: "somebody", org: "acme", roles }, rig.clock.now()) });
    });

    it("as nobody", () => search({}));
  },
);
