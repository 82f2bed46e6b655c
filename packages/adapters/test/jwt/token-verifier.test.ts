import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { settableClock } from "@seneschal/adapters/memory";
import { errors, exportJWK, type JWTPayload, SignJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { staticKeys, TOKEN_ALGORITHMS, type TokenVerifier, tokenVerifier } from "../../src/jwt/index.ts";

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const NOW = 1_700_000_000_000;
const SECOND = NOW / 1000;
const good = { sub: "ada", iss: "https://idp.test", aud: "gateway", exp: SECOND + 900, org: "org-a" };
const pairs = new Map<string, Pair>();
const pem = ({ publicKey }: Pair) => publicKey.export({ type: "spki", format: "pem" }).toString();
const pair = (name: string) => pairs.get(name) as Pair;

beforeAll(() => {
  pairs.set("RS", generateKeyPairSync("rsa", { modulusLength: 2048 }));
  for (const [name, namedCurve] of [
    ["ES256", "P-256"],
    ["ES384", "P-384"],
    ["ES512", "P-521"],
    ["other", "P-256"],
  ] as const) {
    pairs.set(name, generateKeyPairSync("ec", { namedCurve }));
  }
});

const keyFor = (alg: string) => pair(alg.startsWith("RS") ? "RS" : alg);
const sign = (claims: JWTPayload, alg = "ES256", header: object = {}, key = keyFor(alg).privateKey) =>
  new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(key);

function verifier(more: object = {}, alg = "ES256"): TokenVerifier {
  const options = { issuer: good.iss, audiences: ["gateway", "other"], clockSkewMs: 30_000, now: () => NOW };
  return tokenVerifier({ keys: staticKeys(pem(keyFor(alg))), ...options, ...more });
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const invalid = (reason: string) => ({ code: "invalid_token", message: "invalid token", details: { reason } });

describe("a token that holds", () => {
  test.each(TOKEN_ALGORITHMS)("%s is accepted", async (alg) => {
    expect(await verifier({}, alg).verify(await sign(good, alg))).toMatchObject({ subject: "ada", organization: "org-a" });
  });

  test("audience, scope and roles come in both forms", async () => {
    const single = await verifier().verify(await sign({ ...good, scope: "openid  profile", roles: "auditor" }));
    expect(single).toMatchObject({ audiences: ["gateway"], scopes: ["openid", "profile"], roles: ["auditor"] });
    const lists = await verifier().verify(await sign({ ...good, aud: ["x", "other"], scope: ["openid"], roles: ["a", "b"] }));
    expect(lists).toMatchObject({ audiences: ["x", "other"], scopes: ["openid"], roles: ["a", "b"] });
    expect(await verifier().verify(await sign(good))).toMatchObject({ scopes: [], roles: [], expiresAt: good.exp * 1000 });
  });

  test("the skew forgives 30 s on either side, not more", async () => {
    await expect(verifier().verify(await sign({ ...good, exp: SECOND - 29 }))).resolves.toBeDefined();
    await expect(verifier().verify(await sign({ ...good, nbf: SECOND + 29 }))).resolves.toBeDefined();
    await expect(verifier().verify(await sign({ ...good, exp: SECOND - 31 }))).rejects.toMatchObject({ code: "token_expired" });
    await expect(verifier().verify(await sign({ ...good, nbf: SECOND + 31 }))).rejects.toMatchObject(invalid("claim nbf"));
  });
});

test("an address is the person's only where the issuer says so with the boolean true; it is known otherwise too, to refuse by", async () => {
  const email = "ada@example.test";
  for (const email_verified of [undefined, null, false, "false", "true", 1, {}, [true]]) {
    const claims = await verifier().verify(await sign({ ...good, email, email_verified } as never));
    expect([claims.email, claims.claimedEmail]).toEqual([undefined, email]);
  }
  const verified = await verifier().verify(await sign({ ...good, email, email_verified: true } as never));
  expect(verified.email).toBe(email);
});

describe("a token of an issuer whose tokens are to be short-lived", () => {
  const fifteen = 900_000;
  const long = { ...good, exp: SECOND + 86_400 };

  test("is taken for that time after its issue and no longer, also where it is remembered", async () => {
    const clock = settableClock(NOW);
    const short = verifier({ maxAgeMs: fifteen, now: clock.now });
    const token = await sign({ ...long, iat: SECOND });
    expect(await short.verify(token)).toMatchObject({ expiresAt: NOW + fifteen });
    clock.set(NOW + fifteen + 29_000);
    await expect(short.verify(token)).resolves.toBeDefined();
    clock.set(NOW + fifteen + 31_000);
    await expect(short.verify(token)).rejects.toMatchObject({ code: "token_expired", message: "token expired" });
    await expect(verifier({ now: clock.now }).verify(token)).resolves.toBeDefined();
  });

  test("says when it was issued, not in the future, and ends at its own end when that comes first", async () => {
    await expect(verifier({ maxAgeMs: fifteen }).verify(await sign(long))).rejects.toMatchObject(invalid("claim iat"));
    const early = { ...long, iat: SECOND + 60 };
    await expect(verifier({ maxAgeMs: fifteen }).verify(await sign(early))).rejects.toMatchObject(invalid("claim iat"));
    const brief = await verifier({ maxAgeMs: fifteen }).verify(await sign({ ...good, iat: SECOND, exp: SECOND + 60 }));
    expect(brief.expiresAt).toBe(NOW + 60_000);
  });
});

describe("a token that does not hold", () => {
  test.each<[string, () => Promise<string> | string, object]>([
    ["garbage", () => "garbage", invalid("format")],
    ["the empty token", () => "", invalid("format")],
    ["three empty parts", () => "..", invalid("format")],
    ["a header that is no JSON", () => "e30x.e30.AA", invalid("format")],
    [
      "a payload that is no object",
      async () => {
        const [header] = (await sign(good)).split(".");
        const data = `${header}.${base64("text")}`;
        const { sign: raw } = await import("node:crypto");
        return `${data}.${raw("sha256", Buffer.from(data), { key: pair("ES256").privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
      },
      invalid("format"),
    ],
    ["another key's signature", () => sign(good, "ES256", {}, pair("other").privateKey), invalid("signature")],
    [
      "an altered payload",
      async () => {
        const [header, , signature] = (await sign(good)).split(".");
        return `${header}.${base64({ ...good, org: "org-b" })}.${signature}`;
      },
      invalid("signature"),
    ],
    ["alg none", () => `${base64({ alg: "none" })}.${base64(good)}.`, invalid("algorithm")],
    [
      "HS256 with the public key as secret",
      () => {
        const data = `${base64({ alg: "HS256" })}.${base64(good)}`;
        return `${data}.${createHmac("sha256", pem(pair("ES256")))
          .update(data)
          .digest("base64url")}`;
      },
      invalid("algorithm"),
    ],
    ["another algorithm than the key's", () => sign(good, "ES384"), invalid("algorithm")],
    ["an RSA algorithm against an EC key", () => sign(good, "RS256"), invalid("algorithm")],
    [
      "an unknown critical header",
      () => `${base64({ alg: "ES256", crit: ["x"], x: 1 })}.${base64(good)}.AA`,
      invalid("not supported"),
    ],
    ["exp past the skew", () => sign({ ...good, exp: SECOND - 60 }), { code: "token_expired", message: "token expired" }],
    ["another issuer", () => sign({ ...good, iss: "https://evil.test" }), { code: "invalid_issuer", message: "invalid issuer" }],
    ["another issuer of an expired token", () => sign({ ...good, iss: "x", exp: 1 }), { code: "invalid_issuer" }],
    ["no issuer", () => sign({ ...good, iss: undefined } as never), invalid("claim iss")],
    ["no exp", () => sign({ ...good, exp: undefined } as never), invalid("claim exp")],
    ["exp as text", () => sign({ ...good, exp: "tomorrow" } as never), invalid("claim exp")],
    ["no sub", () => sign({ ...good, sub: undefined } as never), invalid("claim sub")],
    ["an empty sub", () => sign({ ...good, sub: "" }), invalid("claim sub")],
    ["no org", () => sign({ ...good, org: undefined }), invalid("claim org")],
    ["an empty org", () => sign({ ...good, org: "" }), invalid("claim org")],
    ["org as number", () => sign({ ...good, org: 7 }), invalid("claim org")],
    ["an org with a slash", () => sign({ ...good, org: "acme/x" }), invalid("claim org")],
    ["an org with a NUL", () => sign({ ...good, org: "acme\0" }), invalid("claim org")],
    ["an org without end", () => sign({ ...good, org: "a".repeat(129) }), invalid("claim org")],
    ["no aud", () => sign({ ...good, aud: undefined } as never), invalid("claim aud")],
    ["another audience", () => sign({ ...good, aud: "elsewhere" }), invalid("claim aud")],
    ["nbf in the future", () => sign({ ...good, nbf: SECOND + 60 }), invalid("claim nbf")],
    ["iat in the future", () => sign({ ...good, iat: SECOND + 60 }), invalid("claim iat")],
    ["roles of numbers", () => sign({ ...good, roles: [1] }), invalid("claim roles")],
    ["scope as object", () => sign({ ...good, scope: {} }), invalid("claim scope")],
  ])("%s", async (_, token, refusal) => {
    await expect(verifier().verify(await token())).rejects.toMatchObject(refusal);
  });

  test.each([
    ["a NUL", "a\0b"],
    ["a line feed", "a\nb"],
    ["a control character of the second block", "a\u0085b"],
    ["a lone high surrogate", "a\ud800"],
    ["a lone low surrogate", "\udc00b"],
  ])("%s in any claim that is read", async (_, text) => {
    for (const claim of ["sub", "org", "email", "jti", "roles", "scope"])
      await expect(verifier().verify(await sign({ ...good, [claim]: text })), claim).rejects.toMatchObject(
        invalid(`claim ${claim}`),
      );
    for (const [claim, first] of [
      ["roles", "auditor"],
      ["scope", "openid"],
      ["aud", "gateway"],
    ] as const)
      await expect(verifier().verify(await sign({ ...good, [claim]: [first, text] })), claim).rejects.toMatchObject(
        invalid(`claim ${claim}`),
      );
    const claims = {
      organization: "realm.org",
      roles: "realm.roles",
      email: "realm.mail",
      organizations: {},
      rolesOf: { known: "auditor" },
    };
    for (const claim of ["org", "roles", "mail"]) {
      const realm = { org: "org-a", [claim]: text };
      await expect(verifier({ claims }).verify(await sign({ ...good, realm })), claim).rejects.toMatchObject(
        invalid(`claim realm.${claim}`),
      );
    }
  });

  test("no part of a token appears in its refusal", async () => {
    const token = await sign({ ...good, org: "", note: "hunter2" });
    const error = await verifier()
      .verify(token)
      .catch((caught: unknown) => caught);
    expect(JSON.stringify([String(error), error])).not.toContain(token.split(".")[1]);
  });

  test("an unknown key id in a set", async () => {
    const jwk = { ...(await exportJWK(pair("ES256").publicKey)), kid: "k1", alg: "ES256" };
    const set = verifier({ keys: staticKeys(JSON.stringify({ keys: [jwk] })) });
    await expect(set.verify(await sign(good, "ES256", { kid: "k1" }))).resolves.toBeDefined();
    await expect(set.verify(await sign(good, "ES256", { kid: "k2" }))).rejects.toMatchObject(invalid("key"));
  });

  test("keys that cannot be fetched are not the caller's fault", async () => {
    const timeout = verifier({ keys: () => Promise.reject(new errors.JWKSTimeout()) });
    await expect(timeout.verify(await sign(good))).rejects.toMatchObject({ code: "service_unavailable" });
  });
});

describe("the memory of verified tokens", () => {
  const counting = () => {
    let calls = 0;
    const clock = settableClock(NOW);
    const keys = staticKeys(pem(pair("ES256")));
    const remembering = verifier({
      now: () => clock.now(),
      cacheSize: 2,
      keys: (...args: Parameters<typeof keys>) => {
        calls++;
        return keys(...args);
      },
    });
    return { remembering, clock, calls: () => calls };
  };

  test("a verified token is not verified again, until five minutes have passed", async () => {
    const { remembering, clock, calls } = counting();
    const token = await sign(good);
    await remembering.verify(token);
    await remembering.verify(token);
    expect(calls()).toBe(1);
    clock.advance(300_000);
    await remembering.verify(token);
    expect(calls()).toBe(2);
  });

  test("a remembered token expires all the same", async () => {
    const { remembering, clock } = counting();
    const token = await sign({ ...good, exp: SECOND + 10 });
    await remembering.verify(token);
    clock.advance(40_001);
    await expect(remembering.verify(token)).rejects.toMatchObject({ code: "token_expired" });
  });

  test("revocation drops it, and it is bounded", async () => {
    const { remembering, calls } = counting();
    const tokens = await Promise.all(["a", "b", "c"].map((sub) => sign({ ...good, sub })));
    for (const token of tokens) await remembering.verify(token);
    await remembering.verify(tokens[0] ?? "");
    expect(calls()).toBe(4);
    remembering.forget((claims) => claims.subject === "a");
    await remembering.verify(tokens[2] ?? "");
    expect(calls()).toBe(4);
    await remembering.verify(tokens[0] ?? "");
    expect(calls()).toBe(5);
  });

  test("a refusal is not remembered", async () => {
    const { remembering, calls } = counting();
    const bad = await sign({ ...good, org: "" });
    await expect(remembering.verify(bad)).rejects.toThrow();
    await expect(remembering.verify(bad)).rejects.toThrow();
    expect(calls()).toBe(2);
  });
});

describe("a key file", () => {
  test.each<[string, () => string]>([
    ["text", () => "hello"],
    ["a private key", () => pair("RS").privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    ["a short RSA key", () => pem(generateKeyPairSync("rsa", { modulusLength: 1024 }))],
    ["an Ed25519 key", () => pem(generateKeyPairSync("ed25519"))],
    ["a curve without algorithm", () => pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }))],
    ["an empty set", () => '{"keys":[]}'],
    ["broken JSON", () => "{"],
    ["a set with a symmetric key", () => '{"keys":[{"kty":"oct","k":"AAAA"}]}'],
    ["a set with a private key", () => JSON.stringify({ keys: [{ ...pair("ES256").privateKey.export({ format: "jwk" }) }] })],
  ])("%s is refused at the start", (_, text) => {
    expect(() => staticKeys(text())).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});
