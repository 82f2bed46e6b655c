import { checkArgument } from "../argument.ts";
import { readYaml } from "../builtins/yaml.ts";
import { readJson, toJson } from "../value/json.ts";
import { DEFAULT_BUDGETS, metered } from "../value/meter.ts";
import { LoadError } from "./load-error.ts";

/** A document's text, with the path below `data` at which it belongs: that of its directory. */
export interface DocumentFile {
  /** What errors call it; `.yaml` and `.yml` are YAML, all else is JSON. */
  readonly name: string;
  readonly path: readonly string[];
  readonly text: string;
}

type Members = Record<string, unknown>;

/**
 * Documents as one, as OPA merges the files below a directory. Objects are merged member by member; what two files both define is a
 * `data_conflict`, also if both say the same. Throws {@link LoadError}.
 *
 * @example
 * ```ts
 * import { mergeDocuments } from "@seneschal/rego";
 * const data = mergeDocuments([
 *   { name: "data.json", path: [], text: '{"a": {"x": 1}}' },
 *   { name: "a/more.yaml", path: ["a"], text: "z: 2" },
 * ]);
 * console.log(data); // { a: { x: 1, z: 2 } }
 * ```
 */
export function mergeDocuments(files: readonly DocumentFile[]): Readonly<Record<string, unknown>> {
  checkArgument("files", files, "array");
  return mergeValues(files.map(({ name, path, text }) => ({ name, path, value: readDocument(name, text) })));
}

/** {@link mergeDocuments} of what is read already. */
export function mergeValues(
  values: readonly { readonly name: string; readonly path: readonly string[]; readonly value: unknown }[],
): Readonly<Record<string, unknown>> {
  checkArgument("values", values, "array");
  const root: Members = {};
  const made = new Set<Members>([root]);
  for (const { name, path, value: inner } of values) {
    const value = path.reduceRight<unknown>((below, key) => own(key, below), inner);
    if (!isMembers(value)) throw new LoadError("data_invalid", `${name}: a document at the root is an object`);
    merge(root, value, { name, made }, []);
  }
  return root;
}

/**
 * A document's text as a value, every digit kept, a byte order mark passed over: YAML where the name ends in `.yaml` or `.yml`, else JSON.
 * Throws {@link LoadError} `data_invalid`, by the name.
 *
 * @example
 * ```ts
 * import { readDocument } from "@seneschal/rego";
 * console.log(readDocument("input.yaml", "user: ada\n")); // { user: 'ada' }
 * ```
 */
export function readDocument(name: string, text: string): unknown {
  checkArgument("name", name, "string");
  checkArgument("text", text, "string");
  const said = text.replace(/^\ufeff/, "");
  try {
    if (!/\.ya?ml$/.test(name)) return readJson(said);
    return metered(DEFAULT_BUDGETS, undefined, () => toJson(readYaml(said), true));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : "unreadable";
    throw new LoadError("data_invalid", `${name}: ${reason}`);
  }
}

/** `made` are the objects of the merged tree that are its own, so that merging into them changes no file's document. */
interface Merging {
  readonly name: string;
  readonly made: Set<Members>;
}

function merge(into: Members, from: Members, merging: Merging, path: readonly string[]): void {
  for (const [key, value] of Object.entries(from)) {
    const there = Object.hasOwn(into, key) ? into[key] : undefined;
    const at = [...path, key];
    if (!Object.hasOwn(into, key)) Object.defineProperty(into, key, { value, ...PLAIN });
    else if (isMembers(there) && isMembers(value)) merge(ownAt(into, key, there, merging.made), value, merging, at);
    else throw new LoadError("data_conflict", `${merging.name}: ${at.join("/")} is defined by another file`);
  }
}

const PLAIN = { enumerable: true, writable: true, configurable: true } as const;

/** What stands at a member, as an object of the tree's own: a file's is copied when another file adds to it. */
function ownAt(into: Members, key: string, there: Members, made: Set<Members>): Members {
  if (made.has(there)) return there;
  const copy: Members = {};
  for (const [name, item] of Object.entries(there)) Object.defineProperty(copy, name, { value: item, ...PLAIN });
  made.add(copy);
  Object.defineProperty(into, key, { value: copy, ...PLAIN });
  return copy;
}

function own(key: string, value: unknown): Members {
  return Object.defineProperty({}, key, { value, ...PLAIN });
}

function isMembers(value: unknown): value is Members {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype
  );
}
