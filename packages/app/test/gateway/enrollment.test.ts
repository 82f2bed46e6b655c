import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  createRequest,
  decodePem,
  encodePem,
  encodePrivateKey,
  localSigner,
  newPrivateKey,
  requestPem,
} from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapBytes } from "../../src/gateway/index.ts";
import { openRig, type Rig } from "./rig.ts";

const base64 = (data: Uint8Array | string): string => Buffer.from(data).toString("base64");
const code = (answer: { body: { error: { code: string } } }): string => answer.body.error.code;
/** The request with the last byte of its signature changed. */
function damaged(pem: string): string {
  const [der = new Uint8Array()] = decodePem("CERTIFICATE REQUEST", pem);
  der[der.length - 1] = (der[der.length - 1] ?? 0) ^ 1;
  return encodePem("CERTIFICATE REQUEST", der);
}

const seed = new Uint8Array(32).fill(7);
const first = { email: "ada@acme.example", name: "Ada" };

/** A request of an RSA key of 1024 bits, well signed. */
const smallRequest = [
  "-----BEGIN CERTIFICATE REQUEST-----",
  "MIIBTzCBuQIBADAQMQ4wDAYDVQQDDAVzbWFsbDCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAzWedrM7yNZZlmrHzp+XudYOS",
  "nS0ze2gbBgawsWkqgoC7xm6OyVfs3Q+Rp/CVANhCvPbqLVAFMgPdf1IMJTxMPmSN9hm33u4JE221hgTTu9LL64bL8DtYyU0w8nOI",
  "awlW/+dvKwueEW3e2HzHAV2yvDBoZjrlQqxqXSC/Lfwyxv0CAwEAAaAAMA0GCSqGSIb3DQEBCwUAA4GBAFntD/8uat1qb/FUPmrS",
  "z0IxS2U2tg11EWE9XSiCTFWJNRBEX2K2ctM1VpHG1FGNR3Bafzk3jojzP9gFiWPai25hZoAFHBBulpsZLttk2zyXwp00PpFgbE0a",
  "uvDLqkSG9JyS8e0eH+yzbzndVU91w35UucgNvIRXbZyFlkXf+Q97",
  "-----END CERTIFICATE REQUEST-----",
].join("\n");

describe("the first admin", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig({
      organizations: [],
      settings: { organizations: [{ id: "acme", crk_public_key: base64(nodeCrypto.ed25519PublicKey(seed)) }, { id: "globex" }] },
    });
  });
  afterAll(() => rig.close());

  it("comes in by a signature of the organisation's root key, once, and enrols with a key of its own", async () => {
    const signature = base64(nodeCrypto.ed25519Sign(seed, bootstrapBytes("seneschal", "acme", first)));
    const ask = (body: object) => rig.anonymous("POST", "/api/v1/bootstrap/admin", body);
    const unsigned = await ask(first);
    expect([unsigned.status, code(unsigned)]).toEqual([400, "SIGNATURE_REQUIRED"]);
    for (const wrong of [
      { ...first, name: "Eve", crk_signature: signature },
      { ...first, org_id: "globex", crk_signature: signature },
      { ...first, crk_signature: base64(nodeCrypto.ed25519Sign(new Uint8Array(32), bootstrapBytes("seneschal", "acme", first))) },
      { ...first, crk_signature: base64(nodeCrypto.ed25519Sign(seed, bootstrapBytes("other", "acme", first))) },
    ]) {
      const refused = await ask(wrong);
      expect([refused.status, code(refused)]).toEqual([403, "SIGNATURE_INVALID"]);
    }
    const made = await ask({ ...first, crk_signature: signature });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      org_id: "acme",
      role: "super_admin",
      is_bootstrap: true,
      enrollment_status: "pending",
      active: true,
    });
    const closed = await ask({ ...first, crk_signature: signature });
    expect([closed.status, code(closed)]).toEqual([403, "BOOTSTRAP_CLOSED"]);

    const { id, enrollment_token } = made.body;
    const path = `/api/v1/enrollment/admins/${id}`;
    const setup = await rig.anonymous("GET", `${path}/setup`);
    expect(setup.body).toMatchObject({ admin_id: id, enrollment_status: "pending" });
    expect(setup.text).not.toContain("ada@");
    expect((await rig.anonymous("GET", `${path}/setup?token=${enrollment_token}`)).body.email).toBe("ada@acme.example");
    expect((await rig.anonymous("GET", `${path}/setup?token=guess`)).status).toBe(401);

    const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
    const csr = requestPem(
      await createRequest(localSigner(nodeCrypto, key), {
        subject: [
          { type: "O", value: "globex" },
          { type: "CN", value: "root" },
        ],
      }),
    );
    const guess = await rig.anonymous("POST", path, { enrollment_token: "senr_guess", csr });
    expect([guess.status, code(guess)]).toEqual([401, "UNAUTHORIZED"]);
    const broken = await rig.anonymous("POST", path, { enrollment_token, csr: damaged(csr) });
    expect([broken.status, code(broken)]).toEqual([422, "CSR_INVALID"]);
    const small = await rig.anonymous("POST", path, { enrollment_token, csr: smallRequest });
    expect([small.status, small.body.error.message]).toEqual([422, "an RSA key has at least 2048 bits, this one 1024"]);
    const enrolled = await rig.anonymous("POST", path, { enrollment_token, csr: base64(csr) });
    expect(enrolled.status, enrolled.text).toBe(200);
    expect(enrolled.body.admin).toMatchObject({ enrollment_status: "active", cert_serial: enrolled.body.serial_number });
    const used = await rig.anonymous("POST", path, { enrollment_token, csr });
    expect([used.status, code(used)]).toEqual([401, "UNAUTHORIZED"]);

    const ada = rig.with({
      cert: enrolled.body.certificate + enrolled.body.ca_chain[0],
      key: encodePem("PRIVATE KEY", encodePrivateKey(nodeCrypto, key)),
    });
    // The server decides the subject: the organisation in the request counts for nothing.
    const own = await ada("GET", "/api/v1/organizations");
    expect(own.body.organizations.map((org: { id: string }) => org.id)).toEqual(["acme"]);
    const events = await ada("GET", "/api/v1/audit");
    expect(events.body.events.map((event: { event_type: string }) => event.event_type)).toEqual(
      expect.arrayContaining(["organization.create", "admin.bootstrap", "admin.enrollment.complete"]),
    );
  });
});
