import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import { mtlsFetch } from "@seneschal/adapters/http";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openRevocations } from "@seneschal/adapters/tls";
import { createRevocationList, revocationListPem } from "@seneschal/crypto/x509";
import { describe, expect, it } from "vitest";
import { systemCall } from "../../src/gateway/index.ts";
import { openRig, type Rig } from "./rig.ts";

/** One kept-alive connection, spoken to by hand so that the test knows which session it is. */
async function dial(rig: Rig, options: ConnectionOptions) {
  const { certificate: cert = "", private_key: key = "" } = rig.dev.organizations["acme"]?.admins.auditor ?? {};
  const socket = connect({ host: "localhost", port: rig.server.port, ca: rig.dev.ca, cert, key, ...options });
  let session: Buffer | undefined;
  socket.on("session", (ticket: Buffer) => {
    session = ticket;
  });
  await once(socket, "secureConnect");
  return {
    socket,
    session: () => session,
    async status(): Promise<number> {
      socket.write("GET /api/v1/audit?limit=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
      let text = "";
      for (let length = -1; length < 0 || text.length < length; ) {
        const [chunk] = (await once(socket, "data")) as [Buffer];
        text += chunk.toString("latin1");
        const head = text.indexOf("\r\n\r\n");
        if (head > 0) length = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
      }
      return Number(text.split(" ")[1]);
    },
  };
}

describe("a certificate that the gateway itself revokes", () => {
  it.each(["TLSv1.2", "TLSv1.3"] as const)("is refused on the open connection and on a resumed session, %s", async (version) => {
    const rig = await openRig();
    const tls = { minVersion: version, maxVersion: version };
    const open = await dial(rig, tls);
    try {
      expect(await open.status()).toBe(200);
      const renew = `/api/v1/identities/admins/${rig.dev.organizations["acme"]?.admins.auditor.id}/certificate/renew`;
      expect((await rig.admin("acme")("POST", renew, {})).status).toBeLessThan(300);
      expect(await open.status()).toBe(401);
      const resumed = await dial(rig, { ...tls, session: open.session() });
      expect(resumed.socket.isSessionReused()).toBe(true);
      expect(await resumed.status()).toBe(401);
      resumed.socket.destroy();
    } finally {
      open.socket.destroy();
      await rig.close();
    }
  });
});

describe("auth.mtls.crl_url", () => {
  it("a serial on a signed list is refused on the next request of an open connection; without any list in force nobody is trusted, and health says so", async () => {
    const dir = await mkdtemp(join(tmpdir(), "seneschal-crl-"));
    const file = join(dir, "lists.crl");
    let lists: Awaited<ReturnType<typeof openRevocations>> | undefined;
    const rig = await openRig({
      revocations: {
        isRevoked: (identity) => lists?.isRevoked(identity) ?? false,
        requireInForce: () => lists?.requireInForce(),
      },
    });
    const health = async () => {
      const { status, body } = await rig.anonymous("GET", "/health");
      return [status, body.components.revocation_lists.status];
    };
    const http = mtlsFetch({ ca: rig.dev.ca });
    try {
      const issuer = rig.admin("acme");
      const auditor = rig.admin("acme", "auditor");
      expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
      const chain = (await issuer("GET", "/api/v1/certificates/ca-chain")).body.ca_chain;
      const fetchList = async (): Promise<void> => {
        const texts = ["crl/acme", "pki/clients/crl"].map(async (path) => {
          const response = await http.fetch(`https://localhost:${rig.server.port}/api/v1/${path}`);
          return revocationListPem(new Uint8Array(await response.arrayBuffer()));
        });
        await writeFile(file, (await Promise.all(texts)).join(""));
      };
      lists = openRevocations({ url: `file://${file}`, trustedCa: chain, provider: nodeCrypto, now: () => rig.clock.now() });
      const unknown = await auditor("GET", "/api/v1/audit");
      expect([unknown.status, unknown.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
      expect(await health()).toEqual([503, "unhealthy"]);
      await fetchList();
      await lists.refresh();
      expect((await auditor("GET", "/api/v1/audit")).status).toBe(200);
      expect(await health()).toEqual([200, "healthy"]);

      await issuer("POST", `/api/v1/identities/admins/${rig.dev.organizations["acme"]?.admins.auditor.id}/certificate/renew`, {});
      rig.clock.advance(2000);
      await fetchList();
      await lists.refresh();
      const refused = await auditor("GET", "/api/v1/audit");
      expect([refused.status, refused.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
      expect(await health()).toEqual([200, "healthy"]);

      // The organisation's CA itself, by its root: nobody below it is let in.
      expect((await rig.admin("acme")("GET", "/api/v1/audit")).status).toBe(200);
      const now = rig.clock.now();
      const call = systemCall("system:test", "acme", now);
      const [root, org] = await rig.gateway.services.transact(call, async (unit) => {
        const { pki } = rig.gateway.services;
        return [await pki.issuer(unit, "/root"), await pki.issuer(unit, "acme")] as const;
      });
      const entries = [{ serial: org.certificate.serial, revokedAt: now, reason: "ca_compromise" as const }];
      const times = { number: Math.floor(now / 1000) + 10, thisUpdate: now, nextUpdate: now + 3_600_000 };
      await writeFile(file, await createRevocationList(root, { entries, ...times }));
      await lists.refresh();
      const below = await rig.admin("acme")("GET", "/api/v1/audit");
      expect([below.status, below.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);

      rig.clock.advance(366 * 86_400_000);
      expect(await health()).toEqual([503, "unhealthy"]);
    } finally {
      await http.close();
      await rig.close();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
