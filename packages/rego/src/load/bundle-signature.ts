import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { bytesToText, fromBase64Url, textToBytes } from "../builtins/bytes.ts";
import { jwtBuiltins } from "../builtins/crypto/jwt.ts";
import { readYaml } from "../builtins/yaml.ts";
import { jsonText } from "../value/format.ts";
import { DEFAULT_BUDGETS, metered } from "../value/meter.ts";
import { compareStrings } from "../value/value.ts";
import { LoadError } from "./load-error.ts";

/** A file of a bundle; `path` is relative, its separator `/`. */
export interface BundleFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A key that bundles are signed with. */
export interface BundleKey {
  /** A certificate or public key in PEM, a JWK set, or the secret of an HMAC. */
  readonly key: string;
  /** Of JSON Web Signatures: `RS256`, `ES256`, `HS256` ... The token's own word for it is not asked. */
  readonly algorithm: string;
  readonly scope?: string;
}

interface SignedFile {
  readonly name: string;
  readonly hash: string;
  readonly algorithm: string;
}

const HASHES: ReadonlyMap<string, (bytes: Uint8Array) => Uint8Array> = new Map<string, (bytes: Uint8Array) => Uint8Array>([
  ["SHA-224", sha224],
  ["SHA-256", sha256],
  ["SHA-384", sha384],
  ["SHA-512", sha512],
  ["SHA-512-224", sha512_224],
  ["SHA-512-256", sha512_256],
]);
const DEFAULT_PLUGIN = "_default";
/** Files that are hashed as what they say, not as they are written. */
const STRUCTURED = /(^|\/)(data\.json|data\.yaml|\.manifest)$/;

/** Throws `bundle_signature` unless the signature is the key's and covers these files, each as it is, and no others. */
export function verifyBundle(files: readonly BundleFile[], signatures: string, key: BundleKey): void {
  const signed = new Map(signedFiles(signatures, key).map((file) => [file.name, file]));
  for (const { path, bytes } of files) {
    const file = signed.get(path);
    if (file === undefined) throw refused(`${path} is not covered by the signature`);
    const hash = HASHES.get(file.algorithm);
    if (hash === undefined) throw refused(`${path}: ${file.algorithm} is no hash that is trusted`);
    const content = STRUCTURED.test(path) ? textToBytes(canonical(jsonOf(path, bytesToText(bytes)))) : bytes;
    if (bytesToHex(hash(content)) !== file.hash.toLowerCase()) throw refused(`${path} is not what was signed`);
    signed.delete(path);
  }
  const [left] = signed.keys();
  if (left !== undefined) throw refused(`${left} was signed and is not there`);
}

function refused(message: string): LoadError {
  return new LoadError("bundle_signature", message);
}

function signedFiles(signatures: string, { key, algorithm, scope = "" }: BundleKey): readonly SignedFile[] {
  const parsed = json(signatures) as { readonly signatures?: unknown; readonly plugin?: unknown } | null;
  const { signatures: tokens, plugin = "" } = parsed ?? {};
  // what OPA signs by itself names no plugin, or the default one
  if (plugin !== "" && plugin !== DEFAULT_PLUGIN)
    throw refused(`.signatures.json: ${JSON.stringify(plugin)} is no plugin that verifies here`);
  if (!Array.isArray(tokens) || tokens.length !== 1 || typeof tokens[0] !== "string") {
    throw refused(".signatures.json has not one signature");
  }
  const verifier = jwtBuiltins.find(({ name }) => name === `io.jwt.verify_${algorithm.toLowerCase()}`);
  if (verifier === undefined) throw refused(`${algorithm} is no signature algorithm`);
  let holds: unknown;
  try {
    holds = verifier.run([tokens[0], key], undefined as never);
  } catch {
    holds = false;
  }
  if (holds !== true) throw refused("the signature is not that of the key");
  const payload = json(bytesToText(fromBase64Url(tokens[0].split(".")[1] ?? "") ?? new Uint8Array())) as {
    readonly files?: unknown;
    readonly scope?: unknown;
  } | null;
  if ((payload?.scope ?? "") !== scope) throw refused("the signature is for another scope");
  const files = payload?.files;
  if (!Array.isArray(files) || !files.every(isSignedFile)) throw refused("the signature names no files");
  if (new Set(files.map(({ name }) => name)).size < files.length) throw refused("the signature names a file twice");
  return files;
}

function isSignedFile(file: unknown): file is SignedFile {
  const { name, hash, algorithm } = (file ?? {}) as Partial<SignedFile>;
  return typeof name === "string" && typeof hash === "string" && typeof algorithm === "string";
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused("what is signed, or the signature, is not JSON");
  }
}

function jsonOf(path: string, text: string): string {
  if (!path.endsWith(".yaml")) return text;
  try {
    return metered(DEFAULT_BUDGETS, undefined, () => jsonText(readYaml(text)));
  } catch {
    throw refused(`${path} is not YAML`);
  }
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y;

/** JSON without white space, its members in order and its numbers as they were written: what a file's hash is taken of. */
function canonical(text: string): string {
  json(text);
  let at = 0;
  const next = (): string => {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1] ?? "";
    at = TOKEN.lastIndex;
    return token;
  };
  const value = (token: string): string => {
    if (token === "[") {
      const items: string[] = [];
      for (let first = next(); first !== "]"; first = next()) items.push(value(first === "," ? next() : first));
      return `[${items.join(",")}]`;
    }
    if (token === "{") {
      const members = new Map<string, string>();
      for (let name = next(); name !== "}"; name = next()) {
        const key = JSON.parse(name === "," ? next() : name) as string;
        next();
        members.set(key, value(next()));
      }
      const names = [...members.keys()].sort(compareStrings);
      return `{${names.map((name) => `${quoted(name)}:${members.get(name)}`).join(",")}}`;
    }
    return token.startsWith('"') ? quoted(JSON.parse(token) as string) : token;
  };
  return value(next());
}

/** As Go writes strings. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
