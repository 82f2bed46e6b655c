import { parseDocument, YAMLParseError } from "yaml";
import type { Comment, Module, Rule } from "../syntax/ast.ts";
import { fromBigInt } from "../value/number.ts";
import { RegoObject, type Value } from "../value/value.ts";
import { dynamicPart, type Report } from "./tree.ts";

/** One `# METADATA` block. */
interface Block {
  readonly scope: string;
  readonly value: Value;
  /** The row after the block. */
  readonly nextRow: number;
}

interface Annotated {
  readonly rules: ReadonlyMap<Rule, Value>;
  readonly documents: ReadonlyMap<string, Value>;
  readonly packages: ReadonlyMap<string, Value>;
  readonly subpackages: ReadonlyMap<string, Value>;
}

const NOTHING: Value = Object.freeze({});

/**
 * Reads the `# METADATA` comments of all modules: what `rego.metadata.rule` and `rego.metadata.chain` answer for a rule.
 * The chain goes from the rule over its document and package to the packages above.
 */
export function annotate(
  modules: readonly Module[],
  report: Report,
): (rule: Rule) => { readonly own: Value; readonly chain: Value } {
  const places = new Map<Rule, Module>();
  const found = modules.some(({ comments }) => comments.some(isStart)) ? collect(modules, report) : undefined;
  for (const module of modules) for (const rule of module.rules) places.set(rule, module);
  return (rule) => {
    const module = places.get(rule);
    if (module === undefined) return { own: NOTHING, chain: [] };
    const path = rulePath(module, rule);
    const own = found?.rules.get(rule);
    const document = found?.documents.get(path.join("\0"));
    const chain: Value[] = [entry(["data", ...path].slice(1), own)];
    if (document !== undefined) chain.push(entry(path, document));
    const all = module.packagePath;
    const packaged = found?.packages.get(all.join("\0"));
    if (packaged !== undefined) chain.push(entry(all, packaged));
    for (let n = all.length; n > 0; n--) {
      const sub = found?.subpackages.get(all.slice(0, n).join("\0"));
      if (sub !== undefined) chain.push(entry(all.slice(0, n), sub));
    }
    return { own: own ?? document ?? NOTHING, chain };
  };
}

function entry(path: readonly string[], annotations: Value | undefined): Value {
  const members: [string, Value][] = [["path", path]];
  if (annotations !== undefined) members.push(["annotations", annotations]);
  return RegoObject.of(members);
}

function rulePath(module: Module, rule: Rule): readonly string[] {
  const [name, ...rest] = rule.head.ref;
  const names = rest.slice(0, rest.length - dynamicPart(rule).length);
  return [...module.packagePath, name.name, ...names.map((part) => (part.kind === "scalar" ? String(part.value) : ""))];
}

function isStart(comment: Comment): boolean {
  return comment.text.trim() === "METADATA";
}

function collect(modules: readonly Module[], report: Report): Annotated {
  const rules = new Map<Rule, Value>();
  const documents = new Map<string, Value>();
  const packages = new Map<string, Value>();
  const subpackages = new Map<string, Value>();
  for (const module of modules) {
    const blocks = readBlocks(module, report);
    for (const block of blocks) {
      const pkg = module.packagePath.join("\0");
      const rule = module.rules.find(({ loc }) => loc.row >= block.nextRow);
      const forPackage = module.packageLoc.row >= block.nextRow;
      const scope = block.scope === "" ? (forPackage ? "package" : "rule") : block.scope;
      const value = withScope(block.value, scope);
      if (scope === "package") packages.set(pkg, value);
      else if (scope === "subpackages") subpackages.set(pkg, value);
      else if (rule === undefined) continue;
      else if (scope === "document") documents.set(rulePath(module, rule).join("\0"), value);
      else rules.set(rule, value);
    }
  }
  return { rules, documents, packages, subpackages };
}

function withScope(value: Value, scope: string): Value {
  const members = value instanceof RegoObject ? value.sorted().map((key) => [key, value.get(key) as Value] as const) : [];
  return RegoObject.of([...members.filter(([key]) => key !== "scope"), ["scope", scope] as const]);
}

function readBlocks(module: Module, report: Report): readonly Block[] {
  const blocks: Block[] = [];
  const { comments } = module;
  for (let i = 0; i < comments.length; i++) {
    const start = comments[i] as Comment;
    if (!isStart(start)) continue;
    const lines: string[] = [];
    let row = start.loc.row;
    for (
      let next = comments[i + 1];
      next !== undefined && next.loc.row === row + 1 && next.loc.col === start.loc.col;
      next = comments[i + 1]
    ) {
      lines.push(next.text.replace(/^ /, ""));
      row++;
      i++;
    }
    let value: Value;
    try {
      value = readAnnotations(lines.join("\n"));
    } catch (error) {
      const reason = error instanceof Error ? error.message.split("\n")[0] : "unreadable";
      const line = (error instanceof YAMLParseError ? error.linePos?.[0].line : undefined) ?? 1;
      report("rego_parse_error", `yaml: ${reason}`, module.name, { ...start.loc, row: start.loc.row + line });
      continue;
    }
    const scope = value instanceof RegoObject ? value.get("scope") : undefined;
    blocks.push({ scope: typeof scope === "string" ? scope : "", value: normal(value), nextRow: row + 1 });
  }
  return blocks;
}

/** One block's YAML; throws what its reader throws, for text that is no YAML and for what its aliases ask of it alike. */
function readAnnotations(text: string): Value {
  const document = parseDocument(text, { intAsBigInt: true });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  return regoValue(document.toJS({ maxAliasCount: 100 }));
}

/** Authors and organizations in OPA's shapes. */
function normal(value: Value): Value {
  if (!(value instanceof RegoObject)) return NOTHING;
  return RegoObject.of(
    value.sorted().map((key) => {
      const item = value.get(key) as Value;
      if (key !== "authors" || !Array.isArray(item)) return [key, item] as const;
      return [key, (item as readonly Value[]).map(author)] as const;
    }),
  );
}

function author(value: Value): Value {
  if (typeof value !== "string") return value;
  const email = /<([^>]*)>\s*$/.exec(value);
  const name = value.replace(/<[^>]*>\s*$/, "").trim();
  return RegoObject.of([
    ...(name === "" ? [] : [["name", name] as const]),
    ...(email === null ? [] : [["email", email[1] ?? ""] as const]),
  ]);
}

function regoValue(x: unknown): Value {
  if (typeof x === "bigint") return fromBigInt(x);
  if (typeof x !== "object" || x === null) return (x ?? null) as Value;
  if (Array.isArray(x)) return x.map(regoValue);
  return RegoObject.of(Object.entries(x).map(([key, value]) => [key, regoValue(value)] as const));
}
