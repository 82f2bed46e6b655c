import { openapi } from "@seneschal/contract";
import { gatewayContract, gatewayInfo } from "@seneschal/contract/gateway";
import { adminRoles } from "@seneschal/core/keys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federate, openSide, partnerIdentity, type Side } from "../gateway/federated.ts";
import type { Rig } from "../gateway/rig.ts";
import { type Probe, probe, schemathesis } from "./schemathesis.ts";

if (schemathesis === undefined) console.warn("no Schemathesis: the gateway is not probed by it");

/** Minutes for each caller: three of them in every run, all where SCHEMATHESIS_EXAMPLES asks for a long one. */
const long = process.env["SCHEMATHESIS_EXAMPLES"] !== undefined;

describe.skipIf(schemathesis === undefined)(
  "an independent tester finds no 5xx, no undocumented status, no broken schema",
  () => {
    const document = openapi(gatewayContract, { ...gatewayInfo, version: "test" });
    let rig: Rig;
    let partner: Side;
    let own: Side;
    beforeAll(async () => {
      [own, partner] = await Promise.all([openSide("acme"), openSide("globex")]);
      rig = own.rig;
      await federate(own, partner);
    });
    afterAll(() => Promise.all([rig?.close(), partner?.rig.close()]));

    const search = async (credential: Pick<Probe, "identity" | "token">): Promise<void> => {
      const url = `https://localhost:${rig.server.port}`;
      const { clean, text } = await probe({ url, document, ca: rig.dev.ca, without: ["ocsp", "serverOcsp"], ...credential });
      expect(clean, text).toBe(true);
    };

    /** Those who may do less come first: they are asked about what is still whole. */
    it("as nobody", () => search({}));

    it("as a federated partner", async () => search({ identity: await partnerIdentity(partner, own) }));

    it.runIf(long)("as a device, by certificate", async () => {
      const { body } = await own.call("POST", "/api/v1/certificates/issue", { common_name: "sensor", ttl: "720h" });
      await own.call("POST", "/api/v1/identities/devices", {
        device_name: "sensor",
        device_type: "probe",
        cert_serial: body.serial_number,
        cert_expiry: body.expiration,
      });
      await search({ identity: { cert: body.certificate + body.issuing_ca, key: body.private_key } });
    });

    it.runIf(long)("as a service, by its secret", async () => {
      const { body } = await own.call("POST", "/api/v1/identities/services", { name: "probe", auth_method: "role_credential" });
      await search({ token: `sens_${body.credentials.role_id}.${body.credentials.secret_id}` });
    });

    it.runIf(long).each(["", "super_admin"])("as a user of the role '%s', by token", async (role) => {
      const roles = role === "" ? [] : [role];
      await search({ token: rig.issuer.token({ sub: "somebody", org: "acme", roles }, rig.clock.now()) });
    });

    it.runIf(long)("as the bearer of an emergency token", async () => {
      const requester = rig.bearer({ sub: "in need", org: "acme" });
      const base = "/api/v1/emergency-access";
      const { body: asked } = await requester("POST", `${base}/request`, { reason: "fire" });
      for (const role of ["super_admin", "security_admin"] as const)
        await rig.admin("acme", role)("POST", `${base}/${asked.id}/approve`);
      await search({ token: (await requester("GET", `${base}/${asked.id}`)).body.token });
    });

    it.each(long ? adminRoles.toReversed() : (["super_admin"] as const))("as %s, by certificate", async (role) => {
      const admin = rig.dev.organizations["acme"]?.admins[role];
      await search({ identity: { cert: admin?.certificate ?? "", key: admin?.private_key ?? "" } });
    });
  },
);
