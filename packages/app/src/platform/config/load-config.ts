import { checkArgument } from "@seneschal/kernel";
import { parse } from "yaml";
import type * as z from "zod";
import { type Leaf, leaves } from "./leaves.ts";
import { parseSettings } from "./parse-settings.ts";

/** Where settings come from; a later one wins. */
export interface ConfigSources {
  /** Text of a YAML or JSON file, with the name that errors refer to. */
  readonly file?: { readonly name: string; readonly text: string };
  /** Only names with the prefix `SENESCHAL_` are looked at. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** By dotted path: `{ "server.port": "8443" }`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/**
 * Reads a configuration: file, then environment, then flags, checked as a whole. The environment name of `auth.jwt.clock_skew` is
 * `SENESCHAL_AUTH_JWT_CLOCK_SKEW`; lists are separated by commas, structures are JSON. Throws `config_invalid` naming every
 * problem, also every unknown key of any source: a mistyped setting never passes silently. Values never appear in the error.
 *
 * @example
 * ```ts
 * import { loadConfig } from "@seneschal/app/platform";
 * import * as z from "zod";
 * const config = loadConfig(z.strictObject({ port: z.number().default(8443) }), { env: { SENESCHAL_PORT: "9000" } });
 * console.log(config.port); // 9000
 * ```
 */
export function loadConfig<Schema extends z.ZodObject>(schema: Schema, sources: ConfigSources): z.output<Schema> {
  checkArgument("schema", schema, "object");
  checkArgument("sources", sources, "object");
  const problems: string[] = [];
  const settings = leaves(schema);
  const tree = sources.file === undefined ? {} : readFile(sources.file, problems);

  const byName = new Map<string, Leaf>();
  for (const leaf of settings) {
    const name = envName(leaf.path);
    const twin = byName.get(name);
    if (twin !== undefined) throw new TypeError(`${twin.path.join(".")} and ${leaf.path.join(".")} are both ${name}`);
    byName.set(name, leaf);
  }
  for (const [name, text] of Object.entries(sources.env ?? {})) {
    if (!name.startsWith("SENESCHAL_") || text === undefined) continue;
    const leaf = byName.get(name);
    if (leaf === undefined) problems.push(`environment ${name}: unknown setting`);
    else assign(tree, leaf.path, fromText(leaf, text, `environment ${name}`, problems));
  }
  for (const [dotted, text] of Object.entries(sources.flags ?? {})) {
    const leaf = settings.find((setting) => setting.path.join(".") === dotted);
    if (leaf === undefined) problems.push(`flag ${dotted}: unknown setting`);
    else assign(tree, leaf.path, fromText(leaf, text, `flag ${dotted}`, problems));
  }

  return parseSettings(schema, tree, problems);
}

/** The environment variable of a setting. */
export function envName(path: readonly string[]): string {
  checkArgument("path", path, "array");
  return `SENESCHAL_${path.join("_").toUpperCase()}`;
}

type Tree = { [key: string]: unknown };

function readFile(file: { readonly name: string; readonly text: string }, problems: string[]): Tree {
  let value: unknown;
  try {
    // YAML 1.2 holds JSON. Aliases are bounded by the parser; duplicate keys are errors.
    value = parse(file.text) ?? {};
  } catch (error) {
    // The first line names the place; the lines behind it quote the file, which may hold secrets.
    problems.push(`${file.name}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : "not YAML"}`);
    return {};
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Tree;
  problems.push(`${file.name}: expected settings by name`);
  return {};
}

function fromText(leaf: Leaf, text: string, source: string, problems: string[]): unknown {
  switch (leaf.kind) {
    case "text":
      return text;
    case "list":
      return text === "" ? [] : text.split(",").map((item) => item.trim());
    case "number": {
      const value = Number(text);
      if (text.trim() !== "" && Number.isFinite(value)) return value;
      problems.push(`${source}: expected a number`);
      return undefined;
    }
    case "boolean":
      if (text === "true" || text === "false") return text === "true";
      problems.push(`${source}: expected true or false`);
      return undefined;
    case "json":
      try {
        return JSON.parse(text) as unknown;
      } catch {
        problems.push(`${source}: expected JSON`);
        return undefined;
      }
  }
}

function assign(tree: Tree, path: readonly string[], value: unknown): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  const inner = tree[key];
  const next: Tree = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? (inner as Tree) : {};
  tree[key] = next;
  assign(next, rest, value);
}
