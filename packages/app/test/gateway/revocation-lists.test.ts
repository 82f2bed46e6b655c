import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mtlsFetch } from "@seneschal/adapters/http";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openRevocations } from "@seneschal/adapters/tls";
import { describe, expect, it } from "vitest";
import { openRig } from "./rig.ts";

describe("auth.mtls.crl_url", () => {
  it("a serial on a signed list is refused on the next request of an open connection; without any list nobody is trusted", async () => {
    const dir = await mkdtemp(join(tmpdir(), "seneschal-crl-"));
    const file = join(dir, "lists.crl");
    let lists: Awaited<ReturnType<typeof openRevocations>> | undefined;
    const rig = await openRig({ revocations: { isRevoked: (identity) => lists?.isRevoked(identity) ?? false } });
    const http = mtlsFetch({ ca: rig.dev.ca });
    try {
      const issuer = rig.admin("acme");
      const auditor = rig.admin("acme", "auditor");
      expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
      const chain = (await issuer("GET", "/api/v1/certificates/ca-chain")).body.ca_chain;
      const fetchList = async (): Promise<void> => {
        const response = await http.fetch(`https://localhost:${rig.server.port}/api/v1/crl/acme`);
        await writeFile(file, Buffer.from(await response.arrayBuffer()));
      };
      lists = await openRevocations({
        ...{ url: `file://${file}`, trustedCa: chain, refreshMs: 3_600_000, provider: nodeCrypto },
        now: () => rig.clock.now(),
        onFailure: () => {},
      });
      const unknown = await auditor("GET", "/api/v1/audit");
      expect([unknown.status, unknown.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
      await fetchList();
      await lists.refresh();
      expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);

      const serial = new X509Certificate(rig.dev.organizations["acme"]?.admins.auditor.certificate ?? "").serialNumber;
      await issuer("POST", "/api/v1/certificates/revoke", { serial_number: serial });
      rig.clock.advance(2000);
      await fetchList();
      await lists.refresh();
      const refused = await auditor("GET", "/api/v1/audit");
      expect([refused.status, refused.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
    } finally {
      lists?.close();
      await http.close();
      await rig.close();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
