import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  certificatePem,
  createRevocationList,
  createRoot,
  type Issuer,
  localSigner,
  newPrivateKey,
  newSerial,
  revocationListPem,
  serialText,
} from "@seneschal/crypto/x509";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRevocations, type Revocations } from "../../src/tls/index.ts";

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;
const [stolen, lost, good] = [newSerial(systemRandom), newSerial(systemRandom), newSerial(systemRandom)];
const folder = mkdtempSync(join(tmpdir(), "seneschal-crl-"));
let ca: Issuer;
let stranger: Issuer;
let files = 0;

async function authority(name: string): Promise<Issuer> {
  const signer = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
  const spec = {
    serial: newSerial(systemRandom),
    subject: [{ type: "CN", value: name }],
    notBefore: NOW - HOUR,
    notAfter: NOW + 1e10,
  };
  return { certificate: await createRoot(nodeCrypto, signer, spec), signer };
}

const list = (issuer: Issuer, number: number, serials: readonly Uint8Array[], nextUpdate = NOW + HOUR) =>
  createRevocationList(issuer, {
    number,
    thisUpdate: NOW - 1000,
    nextUpdate,
    entries: serials.map((serial) => ({ serial, revokedAt: NOW - 2000 })),
  });

beforeAll(async () => {
  [ca, stranger] = await Promise.all([authority("Acme CA"), authority("Acme CA")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

function world() {
  const path = join(folder, `${++files}.crl`);
  const clock = settableClock(NOW);
  const failures: unknown[] = [];
  const dropped: string[] = [];
  const open = (url = pathToFileURL(path).href): Promise<Revocations> =>
    openRevocations({
      url,
      trustedCa: certificatePem(ca.certificate),
      refreshMs: HOUR,
      now: () => clock.now(),
      provider: nodeCrypto,
      onRevoked: (serials) => dropped.push(...serials),
      onFailure: (error) => failures.push(error),
    });
  return { path, clock, failures, dropped, open };
}

const identity = (serial: Uint8Array) => ({
  serial: serialText(serial),
  issuerId: Buffer.from(ca.certificate.subjectDer).toString("hex"),
});

describe("revocation by signed lists", () => {
  test("a serial of the list is revoked, any other is not; new ones are told", async () => {
    const { path, open, dropped } = world();
    writeFileSync(path, await list(ca, 1, [stolen]));
    const revocations = await open();
    expect([stolen, good].map((serial) => revocations.isRevoked(identity(serial)))).toEqual([true, false]);
    writeFileSync(path, revocationListPem(await list(ca, 2, [stolen, lost])));
    await revocations.refresh();
    expect(revocations.isRevoked(identity(lost))).toBe(true);
    expect(dropped).toEqual([serialText(stolen), serialText(lost)]);
    revocations.close();
  });

  test("without a list nobody is trusted, until there is one", async () => {
    const { path, open, failures } = world();
    const revocations = await open();
    expect(failures).toHaveLength(1);
    expect(() => revocations.isRevoked(identity(good))).toThrow(expect.objectContaining({ code: "certificate_untrusted" }));
    writeFileSync(path, await list(ca, 1, []));
    await revocations.refresh();
    expect(revocations.isRevoked(identity(good))).toBe(false);
    revocations.close();
  });

  test("a list whose time is over is no list", async () => {
    const { path, clock, open } = world();
    writeFileSync(path, await list(ca, 1, []));
    const revocations = await open();
    clock.advance(HOUR + 1000);
    expect(() => revocations.isRevoked(identity(good))).toThrow("untrusted certificate");
    await expect(revocations.refresh()).rejects.toThrow("its time is over");
    revocations.close();
  });

  test("another issuer's certificate is not covered by this list", async () => {
    const { path, open } = world();
    writeFileSync(path, await list(ca, 1, []));
    const revocations = await open();
    expect(() => revocations.isRevoked({ ...identity(good), issuerId: "00" })).toThrow("untrusted certificate");
    revocations.close();
  });

  test("a list signed by a stranger of the same name, an older one, or half a one changes nothing", async () => {
    const { path, open } = world();
    const current = await list(ca, 5, [stolen]);
    writeFileSync(path, current);
    const revocations = await open();
    for (const [bad, reason] of [
      [await list(stranger, 6, []), "no trusted CA signed it"],
      [await list(ca, 4, []), "older than the one in force"],
      [current.subarray(0, 50), /./],
      [new Uint8Array(), /./],
    ] as const) {
      writeFileSync(path, bad);
      await expect(revocations.refresh()).rejects.toThrow(reason);
      expect(revocations.isRevoked(identity(stolen))).toBe(true);
    }
    revocations.close();
  });

  test("a list comes over http too", async () => {
    const bytes = await list(ca, 1, [stolen]);
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/ca.crl" ? 200 : 404;
      response.end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { open, failures } = world();
    const found = await open(`${base}/ca.crl`);
    expect(found.isRevoked(identity(stolen))).toBe(true);
    found.close();
    const missing = await open(`${base}/nowhere`);
    expect(String(failures[0])).toContain("404");
    missing.close();
    server.closeAllConnections();
    server.close();
  });
});
