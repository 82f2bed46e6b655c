import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import type { ClientPrimitives } from "./custody-people.ts";

/** Of which functions of a provider what is secret: arguments by their place, and the result. */
const secretOf: Readonly<Partial<Record<keyof CryptoProvider, { readonly given: readonly number[]; readonly made: boolean }>>> = {
  seal: { given: [0, 2], made: false },
  open: { given: [0], made: true },
  hmac: { given: [1], made: true },
  hkdf: { given: [1], made: true },
  ed25519PublicKey: { given: [0], made: false },
  ed25519Sign: { given: [0], made: false },
  x25519PublicKey: { given: [0], made: false },
  x25519: { given: [0], made: true },
};

/** A custodian's client of which everything secret is kept that it draws, derives, opens, seals or signs with. */
export interface WatchedClient extends ClientPrimitives {
  /** Each once, by its hex. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
}

export function watchedClient(): WatchedClient {
  const secrets = new Map<string, Uint8Array>();
  const keep = (value: unknown): void => {
    // HKDF without a salt has a key of zeros.
    if (value instanceof Uint8Array && value.some((byte) => byte !== 0))
      secrets.set(Buffer.from(value).toString("hex"), Uint8Array.from(value));
  };
  const crypto = new Proxy(nodeCrypto, {
    get(provider, name) {
      const made = Reflect.get(provider, name);
      const secret = secretOf[name as keyof CryptoProvider];
      if (typeof made !== "function" || secret === undefined) return made;
      return (...given: unknown[]) => {
        for (const place of secret.given) keep(given[place]);
        const result = made.apply(provider, given);
        if (secret.made) keep(result);
        return result;
      };
    },
  });
  const random = (length: number): Uint8Array => {
    const drawn = systemRandom(length);
    keep(drawn);
    return drawn;
  };
  return { crypto, random, secrets };
}
