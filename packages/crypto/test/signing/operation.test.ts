import { readFileSync } from "node:fs";
import { fromUtf8, hex, nobleCrypto } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  bodyHash,
  type OperationPayload,
  operationBytes,
  SIGNING_PREFIXES,
  type SigningPurpose,
  signingBytes,
  verifyOperation,
} from "@seneschal/crypto/signing";
import { describe, expect, test } from "vitest";

const seed = seeded("crk")(32);
const crk = { id: "crk-1", epoch: 2, active: true, publicKey: nobleCrypto.ed25519PublicKey(seed) };
const body = { reason: "end of project" };
const payload: OperationPayload = {
  v: 1,
  op: "workspace.delete",
  org_id: "acme",
  audience: "gw-1",
  resource_type: "workspace",
  resource_id: "w1",
  body_sha256: bodyHash(body),
  crk_id: "crk-1",
  crk_epoch: 2,
  nonce: "5b8efff798038103d269b633813fc60c",
  iat: 1_700_000_000,
  exp: 1_700_000_600,
};
const expectation = {
  op: "workspace.delete",
  orgId: "acme",
  audience: "gw-1",
  resourceType: "workspace",
  resourceId: "w1",
  bodySha256: bodyHash(body),
  crk,
};
const sign = (p: OperationPayload) => nobleCrypto.ed25519Sign(seed, operationBytes(p));
const decide = (changes: { payload?: object; expect?: object; now?: number; signature?: Uint8Array; seen?: boolean } = {}) => {
  const changed = { ...payload, ...changes.payload } as OperationPayload;
  const decision = verifyOperation(nobleCrypto, {
    payload: changed,
    signature: changes.signature ?? sign(changed),
    expect: { ...expectation, ...changes.expect },
    now: changes.now ?? 1_700_000_100_000,
    seen: () => changes.seen ?? false,
  });
  return decision.valid ? "valid" : decision.reason;
};

test("a signature for this operation, now, is valid and says how long to keep the nonce", () => {
  expect(
    verifyOperation(nobleCrypto, {
      payload,
      signature: sign(payload),
      expect: expectation,
      now: 1_700_000_100_000,
      seen: () => false,
    }),
  ).toEqual({ valid: true, nonce: payload.nonce, keepUntil: 1_700_000_600_000 });
});

test("every field is checked, in a fixed order of reasons", () => {
  expect(decide({ expect: { crk: { ...crk, active: false } } })).toBe("crk_inactive");
  expect(decide({ expect: { orgId: "other" } })).toBe("wrong_org");
  expect(decide({ expect: { audience: "gw-2" } })).toBe("wrong_audience");
  expect(decide({ expect: { op: "workspace.archive" } })).toBe("wrong_operation");
  expect(decide({ expect: { resourceType: "policy" } })).toBe("wrong_resource");
  expect(decide({ expect: { resourceId: "w2" } })).toBe("wrong_resource");
  expect(decide({ expect: { bodySha256: bodyHash({}) } })).toBe("body_mismatch");
  expect(decide({ expect: { crk: { ...crk, id: "crk-2" } } })).toBe("wrong_key");
  expect(decide({ expect: { crk: { ...crk, epoch: 3 } } })).toBe("old_epoch");
  expect(decide({ payload: { exp: payload.iat + 24 * 3600 + 1 } })).toBe("lifetime_too_long");
  expect(decide({ now: 1_699_999_939_000 })).toBe("not_yet_valid");
  expect(decide({ now: 1_699_999_941_000 })).toBe("valid");
  expect(decide({ now: 1_700_000_600_000 })).toBe("expired");
  expect(decide({ signature: new Uint8Array(64) })).toBe("signature_invalid");
  expect(decide({ seen: true })).toBe("replayed");
});

test("a signature is for one operation, organisation, resource, body, key and instance: none of it can be swapped", () => {
  const signature = sign(payload);
  const swaps: Partial<Record<keyof OperationPayload, unknown>> = {
    op: "workspace.archive",
    org_id: "other",
    audience: "gw-2",
    resource_type: "policy",
    resource_id: "w2",
    body_sha256: bodyHash({}),
    crk_id: "crk-2",
    crk_epoch: 3,
    nonce: "00000000000000000000000000000000",
    iat: payload.iat + 1,
    exp: payload.exp + 1,
  };
  for (const [field, value] of Object.entries(swaps)) {
    const changed = { ...payload, [field]: value } as OperationPayload;
    const wanted = {
      op: changed.op,
      orgId: changed.org_id,
      audience: changed.audience,
      resourceType: changed.resource_type,
      resourceId: changed.resource_id,
      bodySha256: changed.body_sha256,
      crk: { ...crk, id: changed.crk_id, epoch: changed.crk_epoch },
    };
    expect(decide({ payload: changed, expect: wanted, signature }), field).toBe("signature_invalid");
  }
});

test("a malformed payload is refused before anything else", () => {
  for (const change of [
    { v: 2 },
    { nonce: "short" },
    { iat: 1.5 },
    { exp: payload.iat },
    { body_sha256: "ABC" },
    { org_id: 7 },
    { org_id: "\ud800" },
    { extra: "field" },
    { crk_epoch: "2" },
  ]) {
    expect(decide({ payload: change, signature: new Uint8Array(64) }), JSON.stringify(change)).toBe("malformed");
  }
});

test("a replay cannot be told from a forgery without a right signature", () => {
  expect(decide({ seen: true, signature: new Uint8Array(64) })).toBe("signature_invalid");
});

test("the body hash ignores signature fields and key order, and nothing else", () => {
  expect(bodyHash({ b: 1, a: [1, { c: 2 }], crk_signature: "x", signatures: ["y"], signature: "z", signature_params: {} })).toBe(
    bodyHash({ a: [1, { c: 2 }], b: 1 }),
  );
  expect(bodyHash({ a: 1 })).not.toBe(bodyHash({ a: "1" }));
  expect(bodyHash({ nested: { signature: "x" } })).not.toBe(bodyHash({ nested: {} }));
  expect(bodyHash({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
});

test("purposes never meet: prefixes are distinct, none begins another, all end at the zero byte", () => {
  const prefixes = Object.values(SIGNING_PREFIXES);
  for (const a of prefixes) {
    expect(a).toMatch(/^seneschal\/[a-z-]+\/v\d+$/);
    for (const b of prefixes) if (a !== b) expect(`${b}\0`.startsWith(`${a}\0`)).toBe(false);
  }
});

describe("the vectors of docs/signing.md", () => {
  const page = readFileSync(new URL("../../../../docs/signing.md", import.meta.url), "utf8");
  const vectors = JSON.parse(/```json vectors\n([\s\S]+?)```/.exec(page)?.[1] ?? "null") as {
    seed: string;
    public_key: string;
    vectors: { purpose: SigningPurpose; payload: object; message: string; message_sha256: string; signature: string }[];
    bodies: { body: Record<string, never>; sha256: string }[];
  };

  test("give the bytes, hashes and signatures that the page says", () => {
    const key = Uint8Array.from(Buffer.from(vectors.seed, "hex"));
    expect(hex(nobleCrypto.ed25519PublicKey(key))).toBe(vectors.public_key);
    expect(vectors.vectors.length).toBeGreaterThan(2);
    for (const vector of vectors.vectors) {
      const bytes = signingBytes(vector.purpose, vector.payload);
      expect(fromUtf8(bytes)).toBe(vector.message);
      expect(hex(nobleCrypto.hash("sha256", bytes))).toBe(vector.message_sha256);
      expect(hex(nobleCrypto.ed25519Sign(key, bytes))).toBe(vector.signature);
    }
    for (const { body: value, sha256 } of vectors.bodies) expect(bodyHash(value)).toBe(sha256);
  });

  test("are payloads as the page describes them: of an operation its fields, of the first admin and of a bundle what is signed", () => {
    const members = (purpose: SigningPurpose) =>
      vectors.vectors.filter((vector) => vector.purpose === purpose).map(({ payload: signed }) => Object.keys(signed).sort());
    const [, bundle = ""] = /\*\*A workspace bundle\*\*: `\{([a-z_, ]+)\}`/.exec(page) ?? [];
    expect(members("bundle")).toEqual([bundle.split(", ").sort()]);
    const [, first = ""] = /\*\*The first admin\*\*[^`]*`admin.bootstrap`[^`]*`\{([^}]+)\}`/.exec(page) ?? [];
    const bootstrap = first.split(", ").map((member) => member.split(":")[0] ?? "");
    expect(members("operation")).toEqual([Object.keys(payload).sort(), bootstrap.sort()]);
  });
});
