import { X509Certificate } from "node:crypto";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { createRequest, localSigner, newPrivateKey, parseCertificates, requestPem } from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemCall } from "../../src/gateway/index.ts";
import { federationIdentities } from "../../src/gateway/partners/collections.ts";
import { takeInCertificate } from "../../src/gateway/partners/federation/agreement.ts";
import { signForPartner } from "../../src/gateway/partners/federation/certificates.ts";
import { federationKey } from "../../src/gateway/partners/federation/channel.ts";
import { findFederation } from "../../src/gateway/partners/federation/find.ts";
import { credentials, establish, federate, importCertificate, openSide, type Side } from "./federated.ts";
import type { Caller } from "./rig.ts";

const text = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");
const health = "/api/v1/federation/peer/health";

/** A side's gateway as its partner sees it: what calls with the partner's certificate. */
async function asPartner(of: Side, certificate: string, at: Side): Promise<Caller> {
  const { services } = of.rig.gateway;
  const identity = await services.read.get(federationIdentities, of.org);
  if (identity === undefined) throw new Error("no identity");
  return at.rig.with({ cert: text(certificate), key: await federationKey(services, identity) });
}

describe("federation of two gateways", () => {
  let acme: Side;
  let globex: Side;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
  });
  afterAll(() => Promise.all([acme.rig.close(), globex.rig.close()]));

  it("initialisation answers key, request and certificate of the organisation, and the same key when repeated", async () => {
    const first = await credentials(acme);
    const again = await credentials(acme);
    expect(again).toEqual(first);
    const certificate = new X509Certificate(text(first.certificate));
    expect(certificate.subject.split("\n").sort()).toEqual(["CN=federation.acme", "O=acme"]);
    const unsigned = await acme.call("POST", "/api/v1/federation/init", {});
    expect([unsigned.status, unsigned.body.error.code]).toEqual([400, "SIGNATURE_REQUIRED"]);
    const foreign = await acme.call("POST", "/api/v1/federation/init", { org_id: "globex" });
    expect(foreign.status).toBe(403);
  });

  it("a request naming another organisation, a broken one, and a certificate of another organisation are refused", async () => {
    const own = await credentials(acme);
    const theirs = await credentials(globex);
    const lying = await establish(acme, globex, { partner_csr: own.csr });
    expect([lying.status, lying.body.error.code]).toEqual([422, "CSR_INVALID"]);
    const request = Buffer.from(text(theirs.csr).replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    request[request.length - 3] = (request[request.length - 3] ?? 0) ^ 1;
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    const broken = await establish(acme, globex, { partner_csr: Buffer.from(forged).toString("base64") });
    expect([broken.status, broken.body.error.code]).toEqual([422, "CSR_INVALID"]);
    const two = await createRequest(localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom)), {
      subject: [
        { type: "O", value: "globex" },
        { type: "O", value: "acme" },
      ],
    });
    expect((await establish(acme, globex, { partner_csr: requestPem(two) })).status).toBe(422);
    const other = await establish(acme, globex, { partner_cert: own.certificate });
    expect([other.status, other.body.error.details.field]).toEqual([400, "partner_cert"]);
    expect((await acme.call("GET", "/api/v1/federation")).body).toEqual({ federations: [], count: 0, total: 0 });
  });

  it.each([
    "http://partner.example/",
    "https://10.0.0.1/",
    "https://[::ffff:192.168.0.1]/",
    "https://169.254.169.254/latest",
    "https://user:pass@partner.example/",
    "ftp://partner.example/",
  ])("partner_url %s is refused", async (partner_url) => {
    const answer = await establish(acme, globex, { partner_url });
    expect([answer.status, answer.body.error.details.field]).toEqual([400, "partner_url"]);
  });

  it("without the partner's request a federation waits; the request completes it; a second one is a conflict", async () => {
    const { certificate, csr } = await credentials(globex);
    const bare = { partner_org_id: "globex", partner_url: globex.url, partner_cert: certificate };
    const send = (body: object) => acme.signed("federation.establish", "globex", "POST", "/api/v1/federation/establish", body);
    const waiting = await send(bare);
    expect(waiting.status, waiting.text).toBe(201);
    expect(waiting.body).toMatchObject({ status: "pending", certificate: null, outbound_ready: false, established_at: null });
    expect((await send(bare)).status).toBe(409);
    const complete = await send({ ...bare, partner_csr: csr });
    expect(complete.body).toMatchObject({ id: waiting.body.id, status: "active", outbound_ready: false });
    expect((await send({ ...bare, partner_csr: csr })).status).toBe(409);
    const signed = new X509Certificate(text(complete.body.certificate));
    expect(signed.subject.split("\n").sort()).toEqual(["CN=federation.globex", "O=globex"]);
    expect(signed.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(complete.body).not.toHaveProperty("partner_cert");
    expect((await acme.call("GET", "/api/v1/federation/health")).body.results.globex).toMatchObject({
      healthy: false,
      status: "not_ready",
    });
  });

  it("import takes only a certificate of the pinned CA for the organisation's own key", async () => {
    const forAcme = await establish(globex, acme);
    expect(forAcme.status, forAcme.text).toBe(201);
    const forGlobex = (await acme.call("GET", "/api/v1/federation/globex")).body.certificate;
    const refused = await importCertificate(acme, "globex", forGlobex);
    expect([refused.status, refused.body.error.code]).toEqual([422, "CSR_INVALID"]);
    // The organisation's own certificate is for its key, but not by the partner's CA.
    const own = await importCertificate(acme, "globex", (await credentials(acme)).certificate);
    expect([own.status, own.body.error.details.reason]).toEqual([422, expect.stringContaining("untrusted")]);
    expect((await importCertificate(acme, "globex", forAcme.body.certificate)).status).toBe(204);
    expect((await importCertificate(globex, "acme", forGlobex)).status).toBe(204);
    expect((await acme.call("GET", "/api/v1/federation/globex")).body).toMatchObject({ outbound_ready: true });
    expect((await importCertificate(acme, "initech", forAcme.body.certificate)).status).toBe(404);
  });

  it("health really calls the partner", async () => {
    const { body } = await acme.call("GET", "/api/v1/federation/health");
    expect(body.results.globex).toMatchObject({ healthy: true, status: "healthy" });
    expect((await acme.call("GET", "/api/v1/federation/globex")).body.last_health_check).not.toBeNull();
  });

  it("a partner may make peer calls and nothing else", async () => {
    const { certificate } = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const partner = await asPartner(globex, certificate, acme);
    expect((await partner("GET", health)).body).toMatchObject({ org_id: "acme" });
    for (const [method, path] of [
      ["GET", "/api/v1/federation"],
      ["GET", "/api/v1/workspaces"],
      ["GET", "/api/v1/activity"],
      ["GET", "/api/v1/certificates"],
    ] as const) {
      expect([path, (await partner(method, path)).status]).toEqual([path, 403]);
    }
    expect((await acme.call("GET", health)).status).toBe(403);
    // The refusals stand in the log of the organisation whose partner it is.
    const audit = await acme.call("GET", "/api/v1/audit?event_type=auth.failure&limit=5");
    const refusals = audit.body.events.filter((event: { actor_type: string }) => event.actor_type === "partner");
    expect(refusals[0]).toMatchObject({ org_id: "acme", result: "denied" });
    const unknown = acme.rig.with({ cert: text((await credentials(acme)).certificate), key: await keyOf(acme) });
    expect([(await unknown("GET", health)).status, (await partner("GET", health)).status]).toEqual([401, 200]);
  });

  it("a certificate of the partner's own CA, or without its private key's organisation, does not open the channel", async () => {
    const stranger = acme.rig.with({ cert: text((await credentials(globex)).certificate), key: await keyOf(globex) });
    const answer = await stranger("GET", health);
    expect([answer.status, answer.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
  });

  it("renewal reaches the partner over the channel, which works on without a break", async () => {
    const before = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const old = await asPartner(globex, before.certificate, acme);
    const renewed = await acme.signed("federation.renew-cert", "globex", "POST", "/api/v1/federation/globex/renew-cert", {});
    expect(renewed.status, renewed.text).toBe(200);
    expect(renewed.body).toMatchObject({ partner_id: "globex", delivered: true });
    expect((await globex.call("GET", "/api/v1/federation/health")).body.results.acme).toMatchObject({ healthy: true });
    expect((await old("GET", health)).status).toBe(401);
    expect((await acme.call("GET", "/api/v1/federation/globex")).body.certificate).toBe(renewed.body.certificate);
    expect((await acme.call("POST", "/api/v1/federation/globex/renew-cert", {})).status).toBe(400);
  });

  it("a signature for one renewal does not make the next", async () => {
    const signature = await acme.key.sign("federation.renew-cert", "globex", {});
    const first = await acme.call("POST", "/api/v1/federation/globex/renew-cert", { signature });
    expect(first.status, first.text).toBe(200);
    const again = await acme.call("POST", "/api/v1/federation/globex/renew-cert", { signature });
    expect([again.status, again.body.error.code]).toEqual([409, "SIGNATURE_REPLAYED"]);
  });

  it("a renewal that the partner cannot take leaves the old certificate good", async () => {
    const before = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const partner = await asPartner(globex, before.certificate, acme);
    const path = "/api/v1/federation/peer/certificate";
    const replaced = (await asPartner(acme, (await globex.call("GET", "/api/v1/federation/acme")).body.certificate, globex))(
      "PUT",
      path,
      { certificate: before.certificate.slice(0, 400) },
    );
    expect((await replaced).status).toBe(400);
    expect((await partner("GET", health)).status).toBe(200);
  });

  it("an expired certificate of the partner is refused", async () => {
    const { certificate } = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const partner = await asPartner(globex, certificate, acme);
    const now = acme.rig.clock.now();
    acme.rig.clock.set(now + 366 * 86_400_000);
    const late = await partner("GET", health);
    acme.rig.clock.set(now);
    expect([late.status, late.body.error.code]).toEqual([401, "CERT_EXPIRED"]);
  });

  it("revocation refuses the partner's next call, tells it, and is for good", async () => {
    const { certificate } = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const partner = await asPartner(globex, certificate, acme);
    expect((await partner("GET", health)).status).toBe(200);
    const body = { notify_partner: true, revoke_certs: true };
    const revoked = await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", body);
    expect(revoked.status, revoked.text).toBe(204);
    const refused = await partner("GET", health);
    expect([refused.status, refused.body.error.code]).toEqual([401, "CERT_UNTRUSTED"]);
    expect((await acme.call("GET", "/api/v1/federation/globex")).body).toMatchObject({
      status: "revoked",
      outbound_ready: false,
    });
    expect((await globex.call("GET", "/api/v1/federation/acme")).body.status).toBe("revoked");
    const again = await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", {});
    expect(again.status).toBe(409);
    expect((await acme.call("GET", "/api/v1/federation/health")).body.results).toEqual({});
  });

  it("after the end a new federation begins afresh; without revoked certificates calls are refused all the same", async () => {
    await federate(acme, globex);
    expect((await acme.call("GET", "/api/v1/federation")).body).toMatchObject({ count: 2, total: 2 });
    const { certificate } = (await acme.call("GET", "/api/v1/federation/globex")).body;
    const partner = await asPartner(globex, certificate, acme);
    expect((await partner("GET", health)).status).toBe(200);
    const revoked = await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", {
      revoke_certs: false,
    });
    expect(revoked.status, revoked.text).toBe(204);
    expect((await partner("GET", health)).status).toBe(403);
    expect((await globex.call("GET", "/api/v1/federation/health")).body.results.acme).toMatchObject({ healthy: false });
  });
});

async function keyOf(side: Side): Promise<string> {
  const { services } = side.rig.gateway;
  const identity = await services.read.get(federationIdentities, side.org);
  if (identity === undefined) throw new Error("no identity");
  return federationKey(services, identity);
}

describe("a federation that is older than the certificate that was pinned", () => {
  it("still takes in what the pinned CA issues", async () => {
    const [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    await federate(acme, globex);
    const now = acme.rig.clock.now() + 400 * 86_400_000;
    const call = systemCall("system:test", "globex", now);
    const forAcme = await globex.rig.gateway.services.transact(call, async (unit) => {
      const federation = await findFederation(unit, "acme", "globex");
      if (federation === undefined) throw new Error("no federation");
      const [leaf] = parseCertificates(federation.certificate ?? "");
      if (leaf === undefined) throw new Error("no certificate");
      return signForPartner(globex.rig.gateway.services, unit, federation, leaf.publicKey);
    });
    await acme.rig.gateway.services.transact(systemCall("system:test", "acme", now), async (unit) => {
      const federation = await findFederation(unit, "globex", "acme");
      if (federation === undefined) throw new Error("no federation");
      const taken = await takeInCertificate(acme.rig.gateway.services, unit, federation, forAcme.certificate);
      expect(taken.outbound_certificate).toContain("BEGIN CERTIFICATE");
    });
    await Promise.all([acme.rig.close(), globex.rig.close()]);
  });
});

describe("a partner that fails", () => {
  let acme: Side;
  let globex: Side;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    await federate(acme, globex);
  });
  afterAll(() => acme.rig.close());

  it("down is unhealthy, with words of our own; revoking it works although it cannot be told", async () => {
    await globex.rig.close();
    const { body } = await acme.call("GET", "/api/v1/federation/health");
    expect(body.results.globex).toMatchObject({
      healthy: false,
      status: "unhealthy",
      error: "the partner could not be called: no connection",
    });
    const renewed = await acme.signed("federation.renew-cert", "globex", "POST", "/api/v1/federation/globex/renew-cert", {});
    expect([renewed.status, renewed.body.delivered]).toEqual([200, false]);
    const body2 = { notify_partner: true };
    expect((await acme.signed("federation.revoke", "globex", "DELETE", "/api/v1/federation/globex", body2)).status).toBe(204);
  });
});
