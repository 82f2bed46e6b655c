import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { unwrapImport } from "../transit-import.ts";
import {
  addVersion,
  configure,
  decryptWith,
  encryptWith,
  newTransitKey,
  type TransitKey,
  type TransitKeyType,
  type TransitUse,
  trim,
} from "../transit-key.ts";
import { type Body, HttpFault, type Reply, type Route } from "./route.ts";

const TYPES: readonly TransitKeyType[] = ["aes256-gcm96", "aes128-gcm96", "chacha20-poly1305"];

/** The transit engine: the symmetric kinds of keys with derivation, convergence, batches and the life of versions. */
export function transitRoutes(options: {
  readonly mount: string;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly now: () => number;
}): readonly Route[] {
  const { mount, crypto, random, now } = options;
  const keys = new Map<string, TransitKey>();
  const imported = new Map<string, { readonly allowRotation: boolean; rotated: boolean }>();
  let upsert = true;
  let wrapping: KeyPairKeyObjectResult | undefined;
  /** Made when it is asked for; the real server's has 4,096 bits. */
  const wrappingKey = (): KeyPairKeyObjectResult => {
    wrapping ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
    return wrapping;
  };
  /** The key that a body wraps, as a source of the bytes of a version. */
  const unwrapped = (body: Body): Random => {
    if (body["hash_function"] !== "SHA256") throw new HttpFault(400, ["unsupported hash function"]);
    let bytes: Uint8Array;
    try {
      bytes = unwrapImport(wrappingKey().privateKey, String(body["ciphertext"]));
    } catch {
      throw new HttpFault(400, ["failed to unwrap the key"]);
    }
    if (bytes.length !== 32) throw new HttpFault(400, ["invalid key size"]);
    return () => bytes;
  };

  const need = (name: string): TransitKey => {
    const key = keys.get(name);
    if (key === undefined) throw new HttpFault(404, []);
    return key;
  };
  const change = (name: string, next: (key: TransitKey) => TransitKey): Reply => {
    const key = keys.get(name);
    if (key === undefined) throw new HttpFault(400, ["no existing key named such"]);
    keys.set(name, next(key));
    return { data: describe(need(name)) };
  };

  /** Runs one item or a batch; a failed item answers beside the others, with the status that the caller asked for. */
  const batch = (body: Body, work: (item: Body) => Readonly<Record<string, unknown>>): Reply => {
    const items = body["batch_input"];
    if (items === undefined) return { data: work(body) };
    if (!Array.isArray(items)) throw new HttpFault(400, ["batch_input must be a list"]);
    let failed = 0;
    const results = (items as Body[]).map((item) => {
      const reference = item["reference"] === undefined ? {} : { reference: item["reference"] };
      try {
        return { ...work(item), ...reference };
      } catch (error) {
        failed++;
        return { error: (error as Error).message, ...reference };
      }
    });
    const status = failed > 0 ? Number(body["partial_failure_response_code"] ?? 400) : 200;
    return { status, data: { batch_results: results } };
  };

  const encrypt = (key: TransitKey, item: Body): Readonly<Record<string, unknown>> => {
    if (item["plaintext"] === undefined) throw new HttpFault(400, ["missing plaintext to encrypt"]);
    const use = useOf(item);
    const ciphertext = encryptWith(crypto, random, key, decode(item["plaintext"], "plaintext"), use);
    return { ciphertext, key_version: Number(/^vault:v(\d+)/.exec(ciphertext)?.[1]) };
  };
  const decrypt = (key: TransitKey, item: Body): Uint8Array => {
    if (item["ciphertext"] === undefined) throw new HttpFault(400, ["missing ciphertext to decrypt"]);
    return decryptWith(crypto, key, String(item["ciphertext"]), useOf(item));
  };

  return [
    {
      method: "POST",
      path: `${mount}/keys/:name`,
      run: ({ name, body }) => {
        const type = String(body["type"] ?? "aes256-gcm96") as TransitKeyType;
        if (!TYPES.includes(type)) throw new HttpFault(400, [`unknown key type ${type}`]);
        if (!keys.has(name)) {
          const derived = body["derived"] === true;
          keys.set(
            name,
            newTransitKey(name, { random, now: now(), type, derived, convergent: body["convergent_encryption"] === true }),
          );
        }
        return { data: describe(need(name)) };
      },
    },
    { method: "GET", path: `${mount}/keys/:name`, run: ({ name }) => ({ data: describe(need(name)) }) },
    {
      method: "LIST",
      path: `${mount}/keys`,
      run: () => {
        if (keys.size === 0) throw new HttpFault(404, []);
        return { data: { keys: [...keys.keys()].sort() } };
      },
    },
    {
      method: "DELETE",
      path: `${mount}/keys/:name`,
      run: ({ name }) => {
        const key = keys.get(name);
        if (key === undefined) throw new HttpFault(400, ["could not delete key; not found"]);
        if (!key.deletionAllowed) throw new HttpFault(400, ["deletion is not allowed for this key"]);
        keys.delete(name);
        imported.delete(name);
        return { status: 204 };
      },
    },
    {
      method: "GET",
      path: `${mount}/wrapping_key`,
      run: () => ({ data: { public_key: wrappingKey().publicKey.export({ type: "spki", format: "pem" }) } }),
    },
    {
      method: "POST",
      path: `${mount}/keys/:name/import`,
      run: ({ name, body }) => {
        if (keys.has(name)) throw new HttpFault(400, ["the import path cannot be used with an existing key; use import-version"]);
        if (body["type"] !== "aes256-gcm96") throw new HttpFault(400, [`unsupported key type ${String(body["type"])}`]);
        keys.set(name, newTransitKey(name, { random: unwrapped(body), now: now() }));
        imported.set(name, { allowRotation: body["allow_rotation"] === true, rotated: false });
        return { status: 204 };
      },
    },
    {
      method: "POST",
      path: `${mount}/keys/:name/import_version`,
      run: ({ name, body }) => {
        const known = imported.get(name);
        if (known === undefined || known.rotated) throw new HttpFault(400, ["the key was not imported, or was rotated since"]);
        return change(name, (key) => addVersion(key, unwrapped(body), now()));
      },
    },
    {
      method: "POST",
      path: `${mount}/keys/:name/config`,
      run: ({ name, body }) =>
        change(name, (key) =>
          configure(key, {
            ...(body["min_decryption_version"] === undefined
              ? {}
              : { minDecryptionVersion: Number(body["min_decryption_version"]) }),
            ...(body["min_encryption_version"] === undefined
              ? {}
              : { minEncryptionVersion: Number(body["min_encryption_version"]) }),
            ...(body["deletion_allowed"] === undefined ? {} : { deletionAllowed: body["deletion_allowed"] === true }),
          }),
        ),
    },
    {
      method: "POST",
      path: `${mount}/keys/:name/rotate`,
      run: ({ name }) => {
        const known = imported.get(name);
        if (known?.allowRotation === false) throw new HttpFault(400, ["imported key does not allow rotation"]);
        if (known !== undefined) known.rotated = true;
        return change(name, (key) => addVersion(key, random, now()));
      },
    },
    {
      method: "POST",
      path: `${mount}/keys/:name/trim`,
      run: ({ name, body }) => change(name, (key) => trim(key, Number(body["min_available_version"]))),
    },
    {
      method: "POST",
      path: `${mount}/config/keys`,
      run: ({ body }) => {
        upsert = body["disable_upsert"] !== true;
        return { data: { disable_upsert: !upsert } };
      },
    },
    {
      method: "POST",
      path: `${mount}/encrypt/:name`,
      run: ({ name, body }) => {
        if (!keys.has(name)) {
          if (!upsert) throw new HttpFault(400, ["encryption key not found and upsert is disabled"]);
          // As the real server does: the first use makes the key, derived when a context comes with it.
          const first = Array.isArray(body["batch_input"]) ? (body["batch_input"] as Body[])[0] : body;
          keys.set(name, newTransitKey(name, { random, now: now(), derived: first?.["context"] !== undefined }));
        }
        return batch(body, (item) => encrypt(need(name), item));
      },
    },
    {
      method: "POST",
      path: `${mount}/decrypt/:name`,
      run: ({ name, body }) => {
        if (!keys.has(name)) throw new HttpFault(400, ["encryption key not found"]);
        return batch(body, (item) => ({ plaintext: Buffer.from(decrypt(need(name), item)).toString("base64") }));
      },
    },
    {
      method: "POST",
      path: `${mount}/rewrap/:name`,
      run: ({ name, body }) => {
        if (!keys.has(name)) throw new HttpFault(400, ["encryption key not found"]);
        return batch(body, (item) => {
          const plaintext = Buffer.from(decrypt(need(name), item)).toString("base64");
          return encrypt(need(name), { ...item, plaintext });
        });
      },
    },
    {
      method: "POST",
      path: `${mount}/datakey/:kind/:name`,
      run: ({ name, params, body }) => {
        if (params["kind"] !== "plaintext" && params["kind"] !== "wrapped") throw new HttpFault(400, ["invalid path"]);
        const bits = Number(body["bits"] ?? 256);
        if (![128, 256, 512].includes(bits)) throw new HttpFault(400, ["invalid bit length"]);
        const plaintext = Buffer.from(random(bits / 8)).toString("base64");
        const sealed = encrypt(need(name), { ...body, plaintext });
        return { data: params["kind"] === "plaintext" ? { ...sealed, plaintext } : sealed };
      },
    },
  ];
}

function describe(key: TransitKey): Readonly<Record<string, unknown>> {
  return {
    name: key.name,
    type: key.type,
    derived: key.derived,
    convergent_encryption: key.convergent,
    exportable: false,
    allow_plaintext_backup: false,
    deletion_allowed: key.deletionAllowed,
    latest_version: key.latestVersion,
    min_decryption_version: key.minDecryptionVersion,
    min_encryption_version: key.minEncryptionVersion,
    min_available_version: key.minAvailableVersion,
    supports_encryption: true,
    supports_decryption: true,
    supports_derivation: true,
    supports_signing: false,
    imported_key: false,
    keys: Object.fromEntries(Object.entries(key.versions).map(([v, { createdAt }]) => [v, Math.floor(createdAt / 1000)])),
  };
}

function useOf(item: Body): TransitUse {
  return {
    ...(item["associated_data"] === undefined ? {} : { aad: decode(item["associated_data"], "associated_data") }),
    ...(item["context"] === undefined ? {} : { context: decode(item["context"], "context") }),
    ...(item["key_version"] === undefined ? {} : { version: Number(item["key_version"]) }),
  };
}

function decode(value: unknown, field: string): Uint8Array {
  const text = String(value);
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw new HttpFault(400, [`failed to base64-decode ${field}`]);
  return new Uint8Array(bytes);
}
