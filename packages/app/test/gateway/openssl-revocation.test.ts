import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";

const run = promisify(execFile);
const hasOpenssl = await run("openssl", ["version"]).then(
  () => true,
  () => false,
);

describe.skipIf(!hasOpenssl)("openssl as a client of the revocation services", () => {
  let rig: Rig;
  let dir: string;
  let http: IdentityFetch;
  beforeAll(async () => {
    rig = await openRig();
    dir = await mkdtemp(join(tmpdir(), "seneschal-openssl-"));
    http = mtlsFetch({ ca: rig.dev.ca });
    const acme = rig.admin("acme");
    const issue = async (name: string): Promise<string> => {
      const { body } = await acme("POST", "/api/v1/certificates/issue", { common_name: name });
      await writeFile(join(dir, `${name}.pem`), body.certificate);
      await writeFile(join(dir, "issuer.pem"), body.issuing_ca);
      return body.serial_number;
    };
    await issue("good");
    await acme("POST", "/api/v1/certificates/revoke", { serial_number: await issue("revoked") });
    await writeFile(join(dir, "root.pem"), rig.dev.clientCa);
    // Forgetting what ended long ago forgets no revocation that still counts.
    await acme("POST", "/api/v1/certificates/tidy", { safety_buffer: "0s" });
  });
  afterAll(async () => {
    await http.close();
    await rig.close();
    await rm(dir, { recursive: true, force: true });
  });
  const openssl = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run("openssl", args, { cwd: dir }).catch((failed) => failed);
    return `${stdout}${stderr}`;
  };
  it("verifies with our revocation list: the revoked certificate fails, the other passes, the list is signed by the CA", async () => {
    await writeFile(
      join(dir, "list.der"),
      Buffer.from(await (await http.fetch(`https://localhost:${rig.server.port}/api/v1/crl/acme`)).arrayBuffer()),
    );
    expect(await openssl("crl", "-inform", "DER", "-in", "list.der", "-CAfile", "issuer.pem", "-noout")).toMatch(/verify OK/);
    await openssl("crl", "-inform", "DER", "-in", "list.der", "-out", "list.pem");
    const check = (name: string) =>
      openssl("verify", "-crl_check", "-CAfile", "root.pem", "-untrusted", "issuer.pem", "-CRLfile", "list.pem", `${name}.pem`);
    expect(await check("good")).toMatch(/good\.pem: OK/);
    expect(await check("revoked")).toMatch(/certificate revoked/);
  });

  it("asks our OCSP responder over HTTPS about both, with a nonce, and verifies the signed answers", async () => {
    const answer = await openssl(
      ...["ocsp", "-url", `https://localhost:${rig.server.port}/api/v1/ocsp/acme`, "-issuer", "issuer.pem"],
      ...["-CAfile", "root.pem", "-verify_other", "issuer.pem", "-cert", "good.pem", "-cert", "revoked.pem"],
    );
    expect(answer).toMatch(/Response verify OK/);
    expect(answer).not.toMatch(/nonce/i);
    expect(answer).toMatch(/good\.pem: good/);
    expect(answer).toMatch(/revoked\.pem: revoked/);
  });

  it("answers the same by GET, for openssl's own request", async () => {
    const request = ["ocsp", "-issuer", "issuer.pem", "-cert", "good.pem", "-cert", "revoked.pem", "-no_nonce"];
    await openssl(...request, "-reqout", "request.der");
    const text = encodeURIComponent((await readFile(join(dir, "request.der"))).toString("base64"));
    const response = await http.fetch(`https://localhost:${rig.server.port}/api/v1/ocsp/acme/${text}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/ocsp-response"]);
    await writeFile(join(dir, "response.der"), Buffer.from(await response.arrayBuffer()));
    const shown = await openssl(...request, "-respin", "response.der", "-CAfile", "root.pem", "-verify_other", "issuer.pem");
    expect(shown).toMatch(/Response verify OK/);
    expect(shown).toMatch(/good\.pem: good/);
    expect(shown).toMatch(/revoked\.pem: revoked/);
    const odd = await http.fetch(`https://localhost:${rig.server.port}/api/v1/ocsp/acme/no-request`);
    expect(Buffer.from(await odd.arrayBuffer()).toString("hex")).toBe("30030a0101");
  });
});
