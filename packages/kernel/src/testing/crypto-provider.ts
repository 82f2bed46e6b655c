import type { CryptoProvider } from "../ports/crypto-provider.ts";
import { refuses as demandRefusal, type SuiteRunner } from "./suite.ts";

const EMPTY = new Uint8Array();
/** RFC 7748 section 6.1. */
const BOB_SECRET = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
const ALICE_PUBLIC = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
const SHARED = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
const FLOOR = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

function flip(data: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(data);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/**
 * The laws of the CryptoProvider port. `reference` is another provider: every function is compared with it over
 * generated input, so that data sealed by one opens under the other.
 */
export function cryptoProviderSuite(options: {
  readonly runner: SuiteRunner;
  readonly provider: CryptoProvider;
  readonly reference: CryptoProvider;
  /** Rounds of generated input per function. Default 24. */
  readonly rounds?: number;
}): void {
  const { runner, provider: p, reference: r, rounds = 24 } = options;
  const test = (name: string, body: () => void | Promise<void>) => runner.test(name, async () => body());
  const check = (condition: boolean, message: string) => runner.equal(condition, true, message);
  const same = (actual: unknown, expected: unknown, what: string) => runner.equal(actual, expected, what);
  const refuses = (code: string, call: () => unknown) => demandRefusal(runner, code, call);
  /** Reproducible bytes: SHA-256 in counter mode over a label. */
  const data = (label: string, length: number): Uint8Array => {
    const out = new Uint8Array(length);
    for (let i = 0; i * 32 < length; i++) out.set(r.hash("sha256", ascii(`${label}/${i}`)).subarray(0, length - i * 32), i * 32);
    return out;
  };
  const each = (label: string, work: (n: number, d: (name: string, length: number) => Uint8Array) => void): void => {
    for (let n = 0; n < rounds; n++) work(n, (name, length) => data(`${label}/${n}/${name}`, length));
  };

  test("AES-GCM gives the bytes of the GCM specification (test case 14 of McGrew and Viega)", () => {
    const sealed = p.seal(new Uint8Array(32), new Uint8Array(12), new Uint8Array(16), EMPTY);
    same(sealed, bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"), "ciphertext and tag");
  });

  test("ChaCha20-Poly1305 gives the bytes of RFC 8439 2.8.2", () => {
    const plaintext = ascii(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
    );
    const sealed = p.chachaSeal(
      bytes("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
      bytes("070000004041424344454647"),
      plaintext,
      bytes("50515253c0c1c2c3c4c5c6c7"),
    );
    same(sealed.subarray(sealed.length - 16), bytes("1ae10b594f09e26a7e902ecbd0600691"), "tag");
  });

  test("the RFC 5869 case 1, RFC 3394 4.6, RFC 5649 6, RFC 8032 7.1 and RFC 7748 6.1 values hold", async () => {
    same(
      p.hkdf("sha256", new Uint8Array(22).fill(11), bytes("000102030405060708090a0b0c"), bytes("f0f1f2f3f4f5f6f7f8f9"), 42),
      bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
      "hkdf",
    );
    const kek = bytes("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    same(
      p.wrap(kek, bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")),
      bytes("28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
      "key wrap",
    );
    same(
      p.wrapPadded(bytes("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8"), bytes("466f7250617369")),
      bytes("afbeb0f07dfbf5419200f2ccb50bb24f"),
      "padded key wrap",
    );
    const seed = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    const key = p.ed25519PublicKey(seed);
    same(key, bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"), "Ed25519 key");
    const signature = p.ed25519Sign(seed, EMPTY);
    same(signature.subarray(0, 8), bytes("e5564300c360ac72"), "Ed25519 signature");
    check(p.ed25519Verify(key, EMPTY, signature), "own signature verifies");
    same(p.x25519(bytes(BOB_SECRET), bytes(ALICE_PUBLIC)), bytes(SHARED), "X25519");
    same(
      await p.argon2id(ascii("password"), ascii("somesaltsomesalt"), FLOOR, 32),
      await r.argon2id(ascii("password"), ascii("somesaltsomesalt"), FLOOR, 32),
      "argon2id",
    );
  });

  test("AEADs agree with the reference for every size and key length, and open what the other sealed", () => {
    each("aead", (n, d) => {
      const key = d("key", [16, 24, 32][n % 3] ?? 32);
      const nonce = d("nonce", 12);
      const text = d("text", n * n);
      const aad = d("aad", (n * 7) % 40);
      same(p.seal(key, nonce, text, aad), r.seal(key, nonce, text, aad), "seal");
      same(p.open(key, nonce, r.seal(key, nonce, text, aad), aad), text, "open");
      const long = d("key", 32);
      same(p.chachaSeal(long, nonce, text, aad), r.chachaSeal(long, nonce, text, aad), "chachaSeal");
      same(p.chachaOpen(long, nonce, r.chachaSeal(long, nonce, text, aad), aad), text, "chachaOpen");
    });
  });

  test("a changed bit in ciphertext, tag, nonce, aad or key opens nothing, and a shortened tag neither", async () => {
    const key = data("k", 32);
    const nonce = data("n", 12);
    const aad = data("a", 9);
    for (const [seal, open] of [
      [p.seal, p.open],
      [p.chachaSeal, p.chachaOpen],
    ] as const) {
      const sealed = seal(key, nonce, data("t", 20), aad);
      for (let bit = 0; bit < sealed.length * 8; bit += 5) {
        await refuses("decryption_failed", () => open(key, nonce, flip(sealed, bit), aad));
      }
      await refuses("decryption_failed", () => open(flip(key, 3), nonce, sealed, aad));
      await refuses("decryption_failed", () => open(key, flip(nonce, 3), sealed, aad));
      await refuses("decryption_failed", () => open(key, nonce, sealed, flip(aad, 3)));
      for (let cut = 1; cut <= sealed.length; cut++) {
        await refuses("decryption_failed", () => open(key, nonce, sealed.subarray(0, sealed.length - cut), aad));
      }
    }
  });

  test("wrong key and nonce lengths are crypto_invalid before anything is computed", async () => {
    for (const length of [0, 8, 11, 13, 16, 24]) {
      const nonce = new Uint8Array(length);
      await refuses("crypto_invalid", () => p.seal(new Uint8Array(32), nonce, EMPTY, EMPTY));
      await refuses("crypto_invalid", () => p.open(new Uint8Array(32), nonce, new Uint8Array(16), EMPTY));
      await refuses("crypto_invalid", () => p.chachaSeal(new Uint8Array(32), nonce, EMPTY, EMPTY));
    }
    for (const length of [0, 15, 17, 31, 33]) {
      const key = new Uint8Array(length);
      await refuses("crypto_invalid", () => p.seal(key, new Uint8Array(12), EMPTY, EMPTY));
      await refuses("crypto_invalid", () => p.chachaOpen(key, new Uint8Array(12), new Uint8Array(16), EMPTY));
      await refuses("crypto_invalid", () => p.wrap(key, new Uint8Array(16)));
      await refuses("crypto_invalid", () => p.ed25519PublicKey(key));
      await refuses("crypto_invalid", () => p.ed25519Verify(key, EMPTY, new Uint8Array(64)));
      await refuses("crypto_invalid", () => p.x25519PublicKey(key));
      await refuses("crypto_invalid", () => p.p256PublicKey(key));
    }
  });

  test("hashes, MACs and HKDF agree with the reference", async () => {
    each("hash", (n, d) => {
      const input = d("input", n * 31);
      for (const algorithm of ["sha1", "sha256", "sha384", "sha512"] as const) {
        same(p.hash(algorithm, input), r.hash(algorithm, input), algorithm);
      }
      for (const algorithm of ["sha1", "sha256", "sha512"] as const) {
        same(p.hmac(algorithm, d("key", n * 9), input), r.hmac(algorithm, d("key", n * 9), input), `hmac ${algorithm}`);
      }
      for (const algorithm of ["sha256", "sha512"] as const) {
        const args = [d("ikm", n), d("salt", n), d("info", n * 60), 1 + n * 13] as const;
        same(p.hkdf(algorithm, ...args), r.hkdf(algorithm, ...args), `hkdf ${algorithm}`);
      }
    });
    await refuses("crypto_invalid", () => p.hkdf("sha256", EMPTY, EMPTY, EMPTY, 255 * 32 + 1));
    await refuses("crypto_invalid", () => p.hkdf("sha512", EMPTY, EMPTY, EMPTY, 0));
  });

  test("key wrap refuses short, odd and damaged input, and agrees with the reference", async () => {
    each("wrap", (n, d) => {
      const kek = d("kek", 32);
      const key = d("key", 16 + 8 * n);
      same(p.wrap(kek, key), r.wrap(kek, key), "wrap");
      same(p.unwrap(kek, r.wrap(kek, key)), key, "unwrap");
      const odd = d("odd", n + 1);
      same(p.wrapPadded(kek, odd), r.wrapPadded(kek, odd), "wrapPadded");
      same(p.unwrapPadded(kek, r.wrapPadded(kek, odd)), odd, "unwrapPadded");
    });
    const kek = data("kek", 32);
    for (const length of [0, 8, 15, 17]) await refuses("crypto_invalid", () => p.wrap(kek, new Uint8Array(length)));
    for (const length of [0, 8, 16, 23]) await refuses("crypto_invalid", () => p.unwrap(kek, new Uint8Array(length)));
    await refuses("crypto_invalid", () => p.wrapPadded(kek, EMPTY));
    await refuses("decryption_failed", () => p.unwrap(kek, flip(p.wrap(kek, data("key", 32)), 77)));
    await refuses("decryption_failed", () => p.unwrapPadded(kek, flip(p.wrapPadded(kek, data("key", 31)), 77)));
    await refuses("decryption_failed", () => p.unwrapPadded(kek, EMPTY));
  });

  test("Ed25519 agrees with the reference and knows no signature but the right one", () => {
    each("ed25519", (n, d) => {
      const seed = d("seed", 32);
      const message = d("message", n * 11);
      const key = p.ed25519PublicKey(seed);
      same(key, r.ed25519PublicKey(seed), "public key");
      const signature = p.ed25519Sign(seed, message);
      same(signature, r.ed25519Sign(seed, message), "signature");
      check(p.ed25519Verify(key, message, signature), "verifies");
      check(!p.ed25519Verify(key, message, flip(signature, (n * 37) % 512)), "changed signature");
      check(!p.ed25519Verify(key, d("other", 12), signature), "other message");
      check(!p.ed25519Verify(key, message, signature.subarray(0, 63)), "short signature");
    });
  });

  test("an Ed25519 key of small order or of a second encoding verifies nothing", () => {
    // With the identity as key, R = identity and s = 0 satisfy the equation for every message.
    const identity = bytes(`01${"00".repeat(31)}`);
    const forged = new Uint8Array(64);
    forged.set(identity);
    check(!p.ed25519Verify(identity, ascii("anything"), forged), "identity");
    check(!p.ed25519Verify(bytes(`01${"00".repeat(30)}80`), ascii("anything"), forged), "identity with a sign");
    check(!p.ed25519Verify(bytes(`ee${"ff".repeat(30)}7f`), ascii("anything"), forged), "identity, not reduced");
    for (const y of [
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "00".repeat(32),
      `ec${"ff".repeat(30)}7f`,
    ]) {
      for (let n = 0; n < 16; n++) check(!p.ed25519Verify(bytes(y), data(`m${n}`, 8), forged), `small order ${y}`);
    }
  });

  test("P-256 signatures cross-verify, are low-s on signing and accepted high-s on verifying", () => {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    each("p256", (n, d) => {
      const secret = d("secret", 32);
      secret[0] = (secret[0] ?? 0) & 0x7f;
      const message = d("message", n * 5);
      const key = p.p256PublicKey(secret);
      same(key, r.p256PublicKey(secret), "public key");
      const signature = p.p256Sign(secret, message);
      check(r.p256Verify(key, message, signature), "reference accepts ours");
      check(p.p256Verify(key, message, r.p256Sign(secret, message)), "we accept the reference's");
      const s = BigInt(`0x${Array.from(signature.subarray(32), (b) => b.toString(16).padStart(2, "0")).join("")}`);
      check(s <= order / 2n, "low s");
      const high = Uint8Array.from(signature);
      high.set(bytes((order - s).toString(16).padStart(64, "0")), 32);
      check(p.p256Verify(key, message, high), "high s");
      check(!p.p256Verify(key, message, flip(signature, (n * 41) % 512)), "changed signature");
      const compressed = Uint8Array.of(2 + ((key[64] ?? 0) & 1), ...key.subarray(1, 33));
      check(p.p256Verify(compressed, message, signature), "compressed key");
    });
  });

  test("a P-256 key that is no point verifies nothing; other forms are refused", async () => {
    const key = p.p256PublicKey(data("secret", 32).fill(1));
    check(!p.p256Verify(flip(key, 80), ascii("m"), new Uint8Array(64).fill(1)), "off the curve");
    const hybrid = Uint8Array.from(key);
    hybrid[0] = 6 + ((key[64] ?? 0) & 1);
    await refuses("crypto_invalid", () => p.p256Verify(hybrid, ascii("m"), new Uint8Array(64)));
    await refuses("crypto_invalid", () => p.p256Verify(Uint8Array.of(0), ascii("m"), new Uint8Array(64)));
    await refuses("crypto_invalid", () => p.p256PublicKey(new Uint8Array(32)));
    await refuses("crypto_invalid", () => p.p256Sign(new Uint8Array(32).fill(255), ascii("m")));
  });

  test("X25519 agrees with the reference, is symmetric and refuses low-order keys", async () => {
    each("x25519", (_n, d) => {
      const a = d("a", 32);
      const b = d("b", 32);
      same(p.x25519PublicKey(a), r.x25519PublicKey(a), "public key");
      same(p.x25519(a, p.x25519PublicKey(b)), r.x25519(b, r.x25519PublicKey(a)), "shared secret");
    });
    for (const point of ["00".repeat(32), `01${"00".repeat(31)}`, `ec${"ff".repeat(30)}7f`]) {
      await refuses("crypto_invalid", () => p.x25519(data("a", 32), bytes(point)));
    }
  });

  test("argon2id refuses what is below 19 MiB or two passes, and short salts", async () => {
    const salt = data("salt", 16);
    const refused = (params: { time: number; memoryKiB: number; parallelism: number }, s = salt, length = 32) =>
      refuses("crypto_invalid", () => p.argon2id(ascii("password"), s, params, length));
    await refused({ ...FLOOR, time: 1 });
    await refused({ ...FLOOR, memoryKiB: 19 * 1024 - 1 });
    await refused({ ...FLOOR, parallelism: 0 });
    await refused({ ...FLOOR, memoryKiB: 2 ** 30 });
    await refused(FLOOR, data("salt", 15));
    await refused(FLOOR, salt, 8);
  });

  test("results are plain, fresh arrays and arguments stay as they were", () => {
    const key = data("key", 32);
    const text = data("text", 40);
    const sealed = p.seal(key, new Uint8Array(12), text, EMPTY);
    check(Object.getPrototypeOf(sealed) === Uint8Array.prototype, "a plain Uint8Array");
    check(sealed.buffer.byteLength === sealed.byteLength, "not a view of a shared pool");
    const opened = p.open(key, new Uint8Array(12), sealed, EMPTY);
    opened.fill(0);
    same(text, data("text", 40), "plaintext");
    same(key, data("key", 32), "key");
    for (const out of [p.hash("sha256", text), p.hmac("sha256", key, text), p.ed25519Sign(key, text), p.x25519PublicKey(key)]) {
      check(Object.getPrototypeOf(out) === Uint8Array.prototype && out.buffer.byteLength === out.byteLength, "fresh");
    }
  });
}
