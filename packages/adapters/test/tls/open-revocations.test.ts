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
  type CertificateSpec,
  certificatePem,
  createRevocationList,
  createRoot,
  ecdsaSignatureToDer,
  type Issuer,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
  parseRevocationList,
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

const list = (issuer: Issuer, number: number, serials: readonly Uint8Array[], nextUpdate = NOW + HOUR, thisUpdate = NOW - 1000) =>
  createRevocationList(issuer, {
    number,
    thisUpdate,
    nextUpdate,
    entries: serials.map((serial) => ({ serial, revokedAt: NOW - 2000 })),
  });

beforeAll(async () => {
  [ca, stranger] = await Promise.all([authority("Acme CA"), authority("Acme CA")]);
  for (const serial of [stolen, lost, good]) ders.set(serial, (await certificate(ca, serial)).certificate.der);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A list that does not say when the next one comes, as our CAs never sign one: ours without that field, signed anew. */
async function withoutEnd(issuer: Issuer): Promise<Uint8Array> {
  const { body, signatureAlgorithm } = parseRevocationList(await list(issuer, 1, []));
  const element = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    const { length } = content;
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
    return Buffer.concat([Buffer.from([tag, ...size]), content]);
  };
  const end = Buffer.from(new Date(NOW + HOUR).toISOString().replace(/^20|[-:T]|\.000/g, ""));
  const text = Buffer.from(body);
  const at = text.indexOf(end) - 2;
  const header = (text[1] ?? 0) < 128 ? 2 : 1 + ((text[1] ?? 0) & 127) + 1;
  const cut = element(0x30, text.subarray(header, at), text.subarray(at + 2 + end.length));
  const signature = ecdsaSignatureToDer(await issuer.signer.sign(cut));
  return element(0x30, cut, signatureAlgorithm, element(0x03, Uint8Array.of(0), signature));
}

function world() {
  const path = join(folder, `${++files}.crl`);
  const clock = settableClock(NOW);
  const failures: unknown[] = [];
  const dropped: string[] = [];
  const open = async (url = pathToFileURL(path).href, trusted: readonly Issuer[] = [ca]): Promise<Revocations> => {
    const revocations = openRevocations({
      url,
      trustedCa: trusted.map((issuer) => certificatePem(issuer.certificate)).join(""),
      now: () => clock.now(),
      provider: nodeCrypto,
      onRevoked: (serials) => dropped.push(...serials),
    });
    await revocations.refresh().catch((error: unknown) => failures.push(error));
    return revocations;
  };
  return { path, clock, failures, dropped, open };
}

/** A certificate of an issuer with this serial. */
async function certificate(issuer: Issuer, serial: Uint8Array, extensions: CertificateSpec["extensions"] = {}): Promise<Issuer> {
  const signer = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
  const spec = { serial, subject: [{ type: "CN", value: `of ${serialText(serial)}` }], publicKey: signer.publicKey, extensions };
  const { notBefore, notAfter } = issuer.certificate;
  return { certificate: await issueCertificate(nodeCrypto, issuer, { ...spec, notBefore, notAfter }), signer };
}

const ders = new Map<Uint8Array, Uint8Array>();
/** What was certified under the serial by the CA. */
const identity = (serial: Uint8Array) => ({ der: ders.get(serial) ?? new Uint8Array() });

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
  });

  test("without a list nobody is trusted, until there is one", async () => {
    const { path, open, failures } = world();
    const revocations = await open();
    expect(failures).toHaveLength(1);
    expect(() => revocations.isRevoked(identity(good))).toThrow(expect.objectContaining({ code: "certificate_untrusted" }));
    writeFileSync(path, await list(ca, 1, []));
    await revocations.refresh();
    expect(revocations.isRevoked(identity(good))).toBe(false);
  });

  test("a list whose time is over is no list", async () => {
    const { path, clock, open } = world();
    writeFileSync(path, await list(ca, 1, []));
    const revocations = await open();
    clock.advance(HOUR + 1000);
    expect(() => revocations.isRevoked(identity(good))).toThrow("untrusted certificate");
    await expect(revocations.refresh()).rejects.toThrow("its time is over");
  });

  test("another issuer's certificate is not covered by this list", async () => {
    const { path, open } = world();
    writeFileSync(path, await list(ca, 1, []));
    const revocations = await open();
    const { der } = (await certificate(stranger, good)).certificate;
    expect(() => revocations.isRevoked({ der })).toThrow("untrusted certificate");
    expect(() => revocations.isRevoked({ der: new Uint8Array() })).toThrow("untrusted certificate");
  });

  test("every certificate of a chain is asked for: below a revoked CA nobody is trusted, without the list of one nobody either", async () => {
    const { path, open } = world();
    const sub = { ca: {}, keyUsage: ["keyCertSign", "cRLSign"] } as const;
    const middle = await certificate(ca, newSerial(systemRandom), sub);
    const lower = await certificate(middle, newSerial(systemRandom), sub);
    const leaf = (await certificate(lower, newSerial(systemRandom))).certificate;
    const all = [ca, middle, lower];
    const write = async (number: number, revoked: readonly Issuer[], of: readonly Issuer[] = all) => {
      const texts = of.map(async (issuer) => {
        const serials = revoked.filter(({ certificate: { issuerDer } }) =>
          Buffer.from(issuerDer).equals(issuer.certificate.subjectDer),
        );
        return revocationListPem(
          await list(
            issuer,
            number,
            serials.map((other) => other.certificate.serial),
          ),
        );
      });
      writeFileSync(path, (await Promise.all(texts)).join(""));
    };
    await write(1, []);
    const revocations = await open(undefined, all);
    expect(revocations.isRevoked(leaf)).toBe(false);
    for (const [number, revoked] of [
      [2, middle],
      [3, lower],
    ] as const) {
      await write(number, [revoked]);
      await revocations.refresh();
      expect(revocations.isRevoked(leaf)).toBe(true);
    }
    for (const missing of all) {
      await write(
        1,
        [],
        all.filter((issuer) => issuer !== missing),
      );
      const part = await open(undefined, all);
      expect(() => part.isRevoked(leaf)).toThrow("untrusted certificate");
      await write(1, []);
      const narrow = await open(
        undefined,
        all.filter((issuer) => issuer !== missing),
      );
      expect(() => narrow.isRevoked(leaf)).toThrow("untrusted certificate");
    }
  });

  test("two CAs of one name have a list each", async () => {
    const { path, open } = world();
    const theirs = (await certificate(stranger, stolen)).certificate;
    for (const order of [
      [ca, stranger],
      [stranger, ca],
    ]) {
      const texts = order.map(async (issuer) => revocationListPem(await list(issuer, 1, issuer === ca ? [stolen] : [lost])));
      writeFileSync(path, (await Promise.all(texts)).join(""));
      const revocations = await open(undefined, order);
      expect([revocations.isRevoked(identity(stolen)), revocations.isRevoked(theirs)]).toEqual([true, false]);
    }
  });

  test("a list of the future, or without an end, is no list", async () => {
    const { path, clock, open } = world();
    writeFileSync(path, await list(ca, 1, []));
    const revocations = await open();
    writeFileSync(path, await list(ca, 2, [], NOW + 2 * HOUR, NOW + HOUR));
    await expect(revocations.refresh()).rejects.toThrow("of the future");
    clock.advance(-2 * HOUR);
    expect(() => revocations.isRevoked(identity(good))).toThrow("untrusted certificate");
    expect(() => revocations.requireInForce()).toThrow("of the future");
    const endless = world();
    writeFileSync(endless.path, await withoutEnd(ca));
    const none = await endless.open();
    expect(String(endless.failures[0])).toContain("until when it holds");
    expect(() => none.isRevoked(identity(good))).toThrow("untrusted certificate");
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
    await open(`${base}/nowhere`);
    expect(String(failures[0])).toContain("404");
    server.closeAllConnections();
    server.close();
  });
});
