import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type Certificate,
  type CertificateSpec,
  certificatePem,
  createRoot,
  type Issuer,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
  parseCertificate,
  parseCertificates,
  parseRequest,
  verifyRequest,
} from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  acceptCrossSigned,
  type InstanceAuthority,
  instanceAuthorities,
  instanceStream,
  requestCrossSigning,
  serverCertificate,
} from "../../src/gateway/index.ts";
import { renewServerCertificate } from "../../src/gateway/renew-server-certificate.ts";
import { openRig, type Rig } from "./rig.ts";
import { handshake } from "./tls-handshake.ts";

const DAY = 86_400_000;
const which = ["servers", "clients"] as const;

/** A CA of a company: a root, and an issuing CA below it. */
async function company(now: number) {
  const authority = (name: string) => ({
    signer: localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom)),
    subject: [{ type: "CN", value: name } as const],
  });
  const serial = () => newSerial(systemRandom);
  const top = authority("Company Root");
  const root: Issuer = {
    signer: top.signer,
    certificate: await createRoot(nodeCrypto, top.signer, {
      serial: serial(),
      subject: top.subject,
      notBefore: now - DAY,
      notAfter: now + 4000 * DAY,
    }),
  };
  const below = async (change: Partial<CertificateSpec["extensions"]> = {}): Promise<Issuer> => {
    const { signer, subject } = authority("Company Issuing CA");
    const certificate = await issueCertificate(nodeCrypto, root, {
      serial: serial(),
      subject,
      publicKey: signer.publicKey,
      notBefore: now - DAY,
      notAfter: now + 3000 * DAY,
      extensions: { ca: {}, keyUsage: ["keyCertSign", "cRLSign"], ...change },
    });
    return { signer, certificate };
  };
  const sign = (issuer: Issuer, csr: string, change: Partial<CertificateSpec> = {}) => {
    const { subject, publicKey } = parseRequest(csr);
    return issueCertificate(nodeCrypto, issuer, {
      serial: serial(),
      subject,
      publicKey,
      notBefore: now - DAY,
      notAfter: now + 2000 * DAY,
      extensions: { ca: {}, keyUsage: ["keyCertSign", "cRLSign"] },
      ...change,
    });
  };
  return { root, below, sign };
}

/** The certificate with another subject key identifier, as a CA makes it that does not look at the request's. */
function renamed({ der, extensions }: Certificate): Certificate {
  const at = Buffer.from(der).indexOf(extensions.subjectKeyId ?? "");
  const other = Uint8Array.from(der);
  other[at] = (der[at] ?? 0) ^ 1;
  return parseCertificate(other);
}

const pems = (...chain: readonly Certificate[]): string => chain.map(certificatePem).join("");

describe("an authority of the instance below a CA of the company", () => {
  let rig: Rig;
  let now: number;
  beforeEach(async () => {
    rig = await openRig();
    now = rig.clock.now();
  });
  afterEach(() => rig.close());
  const request = (authority: InstanceAuthority) => requestCrossSigning(rig.gateway.services, authority, now);
  const accept = (authority: InstanceAuthority, chain: string) =>
    acceptCrossSigned(rig.gateway.services, { authority, chain, now: rig.clock.now() });
  const stored = () =>
    Promise.all(which.map(async (authority) => (await rig.store.get("authorities", instanceAuthorities[authority]))?.doc));

  it("asks for its own name and key, the same each time, proven by the key", async () => {
    for (const authority of which) {
      const [one, two] = [parseRequest(await request(authority)), parseRequest(await request(authority))];
      expect(verifyRequest(nodeCrypto, one)).toBe(true);
      expect(one.publicKey.spki).toEqual(two.publicKey.spki);
      expect(one.subject).toEqual(two.subject);
    }
  });

  it("is trusted by whoever trusts the company's root alone, and by whoever pinned the instance's before; both ways", async () => {
    const { root, below, sign } = await company(now);
    const middle = await below();
    const old = await serverCertificate(rig.gateway.services, { names: ["localhost"], now });
    for (const authority of which) {
      const crossed = await sign(middle, await request(authority));
      const told = await accept(authority, pems(crossed, middle.certificate, root.certificate));
      expect(told).toMatchObject({ authority, root: "CN=Company Root", issuer: "CN=Company Issuing CA", unfit: [] });
    }
    const server = await serverCertificate(rig.gateway.services, { names: ["localhost"], now });
    const made = await rig.admin("acme")("POST", "/api/v1/identities/services", { name: "billing", auth_method: "cert" });
    const client = made.body.credentials as { certificate: string; ca_chain: string[]; private_key: string };
    const shown = { cert: client.certificate + client.ca_chain.join(""), key: client.private_key };
    const companyRoot = certificatePem(root.certificate);
    for (const ca of [companyRoot, server.ca])
      for (const clientCa of [companyRoot, server.clientCa]) {
        const verdict = await handshake({ cert: server.cert + server.chain, key: server.key, ca: clientCa }, { ca, ...shown });
        expect(verdict).toBe("accepted");
      }
    // What was handed out before goes on for those who pinned it, and each anchor trusts its own kind alone.
    expect(old.ca).toBe(server.ca);
    expect(await handshake({ cert: old.cert + old.chain, key: old.key }, { ca: server.ca })).toBe("accepted");
    expect(await handshake({ cert: server.cert + server.chain, key: server.key }, { ca: server.clientCa })).not.toBe("accepted");
    expect(await handshake({ cert: shown.cert, key: shown.key }, { ca: companyRoot })).not.toBe("accepted");
    // The gateway itself lets the client in as before.
    expect((await rig.with(shown)("GET", "/api/v1/organizations")).status).toBe(200);
    expect((await rig.admin("acme")("GET", "/api/v1/certificates")).status).toBe(200);
  });

  it("is recorded as what the operator did, with whose it is from then on", async () => {
    const { root, sign } = await company(now);
    const crossed = await sign(root, await request("servers"));
    await accept("servers", pems(crossed, root.certificate));
    const { items } = await rig.store.list("audit", "by_type", [instanceStream, "certificate.authority.cross_sign"], {
      limit: 10,
    });
    const event = (items[0]?.doc as { event: { actor: string; metadata: object } } | undefined)?.event;
    expect(event).toMatchObject({
      actor: "system:operator",
      metadata: { authority: "servers", issuer: "CN=Company Root", serial_number: crossed.serialText },
    });
  });

  it("takes no chain below which what it signs would not be valid, says why, and is then as it was", async () => {
    const { root, below, sign } = await company(now);
    const middle = await below();
    const other = await company(now);
    const csr = { servers: await request("servers"), clients: await request("clients") };
    const purposes = { servers: "clientAuth", clients: "serverAuth" } as const;
    const ca = { ca: {}, keyUsage: ["keyCertSign"] } as const;
    const before = await stored();
    const whole = (crossed: Certificate): string => pems(crossed, middle.certificate, root.certificate);
    for (const authority of which) {
      const asked = csr[authority];
      const good = await sign(middle, asked);
      const { publicKey } = await company(now).then(async ({ root: foreign }) => foreign.signer);
      const chains: Readonly<Record<string, readonly [string | Promise<string>, string]>> = {
        "no certificate": ["hello", "unreadable"],
        "half of one": [pems(good).slice(0, 300), "unreadable"],
        "no root behind it": [pems(good), "too_short"],
        "an issuing CA where the root belongs": [pems(good, middle.certificate), "no_root"],
        "the authority's own root behind it": [
          pems(good, parseCertificate((before[which.indexOf(authority)] as { certificate: string }).certificate)),
          "out_of_order",
        ],
        "the wrong order": [pems(good, root.certificate, middle.certificate), "no_root"],
        "what stands between is missing": [pems(good, root.certificate), "out_of_order"],
        "a root of the same name that signed nothing of it": [
          pems(good, middle.certificate, other.root.certificate),
          "untrusted",
        ],
        "another key": [sign(middle, asked, { publicKey }).then(whole), "other_key"],
        "another key identifier": [pems(renamed(good), middle.certificate, root.certificate), "other_key_identifier"],
        "another name": [sign(middle, asked, { subject: [{ type: "CN", value: "Seneschal" }] }).then(whole), "other_name"],
        "the other authority's": [sign(middle, csr[authority === "servers" ? "clients" : "servers"]).then(whole), "other_key"],
        "no CA": [sign(middle, asked, { extensions: { keyUsage: ["digitalSignature"] } }).then(whole), "not_a_ca"],
        "purposes that leave out its own": [
          sign(middle, asked, { extensions: { ...ca, extendedKeyUsage: [purposes[authority]] } }).then(whole),
          "wrong_purpose",
        ],
        "over already": [sign(middle, asked, { notBefore: now - DAY, notAfter: now - 1000 }).then(whole), "expired"],
        "not yet": [sign(middle, asked, { notBefore: now + DAY }).then(whole), "not_yet_valid"],
        "a CA above that allows none below": [
          below({ ca: { pathLength: 0 } }).then(async (tight) => {
            const crossed = await sign(
              { ...tight, certificate: { ...tight.certificate, extensions: { ...tight.certificate.extensions, ca: {} } } },
              asked,
            );
            return pems(crossed, tight.certificate, root.certificate);
          }),
          "path_too_long",
        ],
      };
      for (const [name, [chain, reason]] of Object.entries(chains)) {
        const error = await accept(authority, await chain).then(
          () => undefined,
          (e: unknown) => e,
        );
        expect(isCoded(error, "ca_chain_refused") && error.details["reason"], `${authority}: ${name}: ${error}`).toBe(reason);
      }
    }
    // A root for clients certifies CAs, so that one of path length 0 is none.
    const shallow = await sign(middle, csr.clients, { extensions: { ...ca, ca: { pathLength: 0 } } });
    await expect(accept("clients", pems(shallow, middle.certificate, root.certificate))).rejects.toMatchObject({
      details: { reason: "path_too_long" },
    });
    expect(await stored()).toEqual(before);
  });

  it("signs nothing that outlives what stands above it, and is its own root again when that is over", async () => {
    const { root, sign } = await company(now);
    const end = now + 10 * DAY;
    const crossed = await sign(root, await request("servers"), { notAfter: end });
    await accept("servers", pems(crossed, root.certificate));
    const server = await serverCertificate(rig.gateway.services, { names: ["localhost"], now });
    expect(parseCertificate(server.cert).notAfter).toBeLessThanOrEqual(end);
    const later = await serverCertificate(rig.gateway.services, { names: ["localhost"], now: end + DAY });
    expect(later.chain).toBe(later.ca);
    const metrics = (await rig.anonymous("GET", "/metrics")).text;
    expect(metrics).toMatch(/^gateway_authority_certificate_expiry_seconds\{authority="servers"\} (?:864000|86399\d)/m);
    expect(parseCertificate(later.cert).notAfter).toBeGreaterThan(end + 100 * DAY);
  });

  it("a port's certificate gets the chain behind it at the next look, with its key, serial and names as they are", async () => {
    const { root, sign } = await company(now);
    const server = await serverCertificate(rig.gateway.services, { names: ["localhost"], now });
    const file = server.cert + server.chain;
    expect(await renewServerCertificate(rig.gateway.services, file, now)).toBeUndefined();
    const crossed = await sign(root, await request("servers"));
    await accept("servers", pems(crossed, root.certificate));
    const renewed = (await renewServerCertificate(rig.gateway.services, file, now)) ?? "";
    expect(parseCertificates(renewed).map(({ serialText }) => serialText)).toEqual(
      [parseCertificate(server.cert), crossed, root.certificate].map(({ serialText }) => serialText),
    );
    expect(await renewServerCertificate(rig.gateway.services, renewed, now)).toBeUndefined();
    expect(await handshake({ cert: renewed, key: server.key }, { ca: certificatePem(root.certificate) })).toBe("accepted");
  });

  it("names the certificates of servers that the company's constraints on names forbid", async () => {
    const { root, below, sign } = await company(now);
    const narrow = await below({ nameConstraints: { permitted: [{ kind: "dns", value: "company.example" }] } });
    const fits = await serverCertificate(rig.gateway.services, { names: ["gate.company.example"], now });
    const crossed = await sign(narrow, await request("servers"));
    const { unfit } = await accept("servers", pems(crossed, narrow.certificate, root.certificate));
    expect(unfit.length).toBeGreaterThan(0);
    expect(unfit.every(({ reason }) => reason === "name_not_permitted")).toBe(true);
    expect(unfit.map(({ serial_number }) => serial_number)).not.toContain(parseCertificate(fits.cert).serialText);
  });
});
