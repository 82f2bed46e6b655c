import { randomBytes } from "node:crypto";
import { type VaultConnection, vaultPki } from "@seneschal/adapters/vault";
import { nobleCrypto } from "@seneschal/crypto";
import {
  createRequest,
  localSigner,
  newPrivateKey,
  parseCertificate,
  parseCertificates,
  parseRevocationList,
  requestPem,
  verifyChain,
  verifyRevocationList,
} from "@seneschal/crypto/x509";
import { expect, test } from "vitest";

const code = (name: string) => expect.objectContaining({ code: name });

/**
 * The laws of the PKI adapter, over any server that lets the connection mount engines. `advance` where time can be moved: only
 * there is it seen what tidying takes away.
 */
export function pkiSuite(server: {
  open(): Promise<VaultConnection>;
  now(): number;
  readonly advance?: (milliseconds: number) => void;
}): void {
  test("an intermediate under a root signs requests within its role, revokes, lists and tidies", async () => {
    const connection = await server.open();
    const label = randomBytes(4).toString("hex");
    const [top, below] = [`pki-root-${label}`, `pki-${label}`];
    const post = async (path: string, body: object) => {
      const answer = await connection.call("POST", path, body);
      expect(answer.status, answer.errors.join()).toBeLessThan(300);
      return answer.data;
    };
    for (const mount of [top, below]) await post(`sys/mounts/${mount}`, { type: "pki", config: { max_lease_ttl: "8760h" } });
    const pki = vaultPki(connection, below);
    await post(`${top}/root/generate/internal`, { common_name: "Root", key_type: "ec", ttl: "8760h" });
    const made = await post(`${below}/intermediate/generate/internal`, { common_name: "Issuing", key_type: "ec" });
    const signed = await post(`${top}/root/sign-intermediate`, { csr: made["csr"], common_name: "Issuing", ttl: "4380h" });
    const chain = `${signed["certificate"]}\n${(signed["ca_chain"] as string[]).join("\n")}\n`;
    await post(`${below}/intermediate/set-signed`, { certificate: chain });
    await post(`${below}/roles/services`, {
      allowed_domains: "internal.local",
      allow_subdomains: true,
      organization: "acme",
      max_ttl: "72h",
      key_type: "any",
    });

    const signer = localSigner(
      nobleCrypto,
      newPrivateKey(nobleCrypto, "ed25519", (length) => new Uint8Array(randomBytes(length))),
    );
    const requestOf = async (value: string) => requestPem(await createRequest(signer, { subject: [{ type: "CN", value }] }));
    const csr = await requestOf("billing.internal.local");
    const wish = { commonName: "billing.internal.local", ips: ["10.0.0.1"], ttlSeconds: 3600 };
    const issued = await pki.sign("services", csr, wish);
    const certificate = parseCertificate(issued.certificate);
    expect(certificate.publicKey.spki).toEqual(signer.publicKey.spki);
    expect(certificate.subject).toEqual([
      { type: "O", value: "acme" },
      { type: "CN", value: "billing.internal.local" },
    ]);
    const [intermediate, root] = parseCertificates(await pki.caChain());
    if (intermediate === undefined || root === undefined) throw new Error("no chain");
    const decision = verifyChain(nobleCrypto, certificate, {
      roots: [root],
      intermediates: [intermediate],
      now: server.now(),
      purpose: "clientAuth",
    });
    expect(decision.valid).toBe(true);

    const evil = { commonName: "evil.example" };
    await expect(pki.sign("services", csr, evil)).rejects.toThrow("the request names another than the wish");
    await expect(pki.sign("services", await requestOf("evil.example"), evil)).rejects.toThrow(code("vault_invalid"));
    await expect(pki.sign("unknown", csr, wish)).rejects.toThrow(code("vault_invalid"));
    await expect(pki.sign("../sys", csr, wish)).rejects.toThrow(code("vault_invalid"));
    await post(`${below}/roles/servers`, { allowed_domains: "internal.local", allow_subdomains: true, key_type: "ec" });
    const withKey = await pki.issue("servers", { commonName: "mail.internal.local" });
    expect(withKey.privateKey).toMatch(/^-----BEGIN (EC )?PRIVATE KEY-----\n[\s\S]+-----END (EC )?PRIVATE KEY-----\n$/);

    const at = await pki.revoke(issued.serial);
    expect(await pki.revoke(issued.serial.replace(/:/g, "").toUpperCase())).toBe(at);
    expect(await pki.certificate(issued.serial)).toMatchObject({ revokedAt: at });
    expect((await pki.certificate(withKey.serial))?.revokedAt).toBeUndefined();
    await expect(pki.revoke("01:02")).rejects.toThrow(code("key_not_found"));
    expect(await pki.certificate("01:02")).toBeUndefined();
    const list = parseRevocationList(await pki.revocationList());
    expect([...list.entries.keys()]).toEqual([issued.serial]);
    expect(verifyRevocationList(nobleCrypto, list, intermediate)).toBe(true);

    expect(await pki.serials()).toContain(issued.serial);
    server.advance?.(100 * 24 * 3_600_000);
    await pki.tidy(3600);
    if (server.advance !== undefined) expect(await pki.serials()).not.toContain(issued.serial);
    for (const mount of [top, below]) await connection.call("DELETE", `sys/mounts/${mount}`);
  });
}
