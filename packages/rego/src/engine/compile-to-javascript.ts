import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { checkArgument, checkOptions } from "../argument.ts";
import type { Builtin } from "../builtins/builtin.ts";
import * as onLibraries from "../builtins/on-libraries.ts";
import * as plain from "../builtins/plain.ts";
import { pathText, type RuleNode } from "../compile/tree.ts";
import { RegoCompileError } from "../errors.ts";
import { LoadError } from "../load/load-error.ts";
import type { ModuleContent, ModuleManifest } from "../plan/load-module.ts";
import { type Entrypoint, losslessJson, planOf } from "../plan/write-plan.ts";
import type { Source } from "../syntax/ast.ts";
import { VERSION } from "../version.ts";
import { type CompileOptions, compileModules, OPTION_KINDS } from "./compile-modules.ts";
import { parsePath } from "./path.ts";

export interface JavaScriptOptions extends Omit<CompileOptions, "tests"> {
  /** The documents that the module answers for: rules or packages, such as `data.authz.allow`. */
  readonly entrypoints: readonly string[];
  /** Base documents that the module carries; `evaluate` may be given others. */
  readonly data?: unknown;
  /** The bundles that the sources are from, for the module's manifest. */
  readonly bundles?: ModuleManifest["bundles"];
}

const { tests: _, ...KINDS } = OPTION_KINDS;

/**
 * Compiles a policy ahead to the text of one ES module. It imports `@seneschal/rego/runtime` (and `@seneschal/rego/runtime/libraries` for
 * builtins on regular expressions, YAML, keys, GraphQL), which has no parser, checker or compiler of Rego; nothing of it is made by
 * `eval` or `new Function`. The same sources and options give the same text.
 *
 * The module exports `manifest`, what it was compiled from, and `load(options)`, which gives a `LoadedPolicy`: its `evaluate(entrypoint,
 * input, options)` has the answers, errors and limits of `Policy`.
 *
 * Throws {@link RegoCompileError}, and {@link LoadError} `module_entrypoints` for an entrypoint that names no document of a rule or package.
 *
 * @example
 * ```ts
 * import { compileToJavaScript } from "@seneschal/rego";
 * const source = "package authz\n\nallow if input.user == \"ada\"\n";
 * const text = compileToJavaScript([{ name: "authz.rego", source }], { entrypoints: ["data.authz.allow"] });
 * console.log(text.includes("export const load"), text.includes("package authz")); // true false
 * ```
 */
export function compileToJavaScript(sources: readonly Source[], options: JavaScriptOptions): string {
  const { content, plainGroups, libraryGroups } = compileAhead(sources, options);
  const { manifest, plan, data } = content;
  const members = ["manifest", "plan", ...(data === undefined ? [] : ["data"])].join(", ");
  const builtins = [...plainGroups, ...libraryGroups].map((name) => `...${name}`).join(", ");
  return `// Compiled ahead from Rego by @seneschal/rego ${VERSION}, which alone runs it. Change the policy, not this file.
import { ${["loadModule", ...plainGroups].join(", ")} } from "@seneschal/rego/runtime";
${libraryGroups.length === 0 ? "" : `import { ${libraryGroups.join(", ")} } from "@seneschal/rego/runtime/libraries";\n`}
/** What it was compiled from. */
export const manifest = ${JSON.stringify(manifest, null, 2)};

const plan = ${literal(plan)};
${data === undefined ? "" : `\nconst data = ${literal(data)};\n`}
/** @type {(options?: import("@seneschal/rego/runtime").LoadOptions) => import("@seneschal/rego/runtime").LoadedPolicy} */
export const load = (options) => loadModule({ ${members} }, [${builtins}], options);
`;
}

/** What a module holds, and the groups of builtins that it imports. */
export function compileAhead(
  sources: readonly Source[],
  options: JavaScriptOptions,
): { readonly content: ModuleContent; readonly plainGroups: readonly string[]; readonly libraryGroups: readonly string[] } {
  checkOptions("options", options, { ...KINDS, entrypoints: "array", data: "any", bundles: "array?" });
  checkArgument("sources", sources, "array");
  const { entrypoints, data, bundles = [], ...rest } = options;
  const outcome = compileModules(sources, rest);
  if (outcome.compiled === undefined) throw new RegoCompileError(outcome.problems);
  const { compiled, intermediate } = outcome;
  if (entrypoints.length === 0) throw new LoadError("module_entrypoints", "there is no entrypoint");
  const documents = entrypoints.map((name) => entrypointOf(compiled.root, name));
  const plan = planOf(compiled, intermediate, documents, options.builtins ?? []);
  const manifest: ModuleManifest = {
    engine: VERSION,
    entrypoints: documents.map(({ path }) => pathText(path)),
    builtins: plan.own.map(({ name }) => name),
    bundles: bundles.map(({ revision, roots }) => ({ revision, roots })),
    sources: sources.map(({ name, source }) => ({ name, sha256: bytesToHex(sha256(utf8ToBytes(source))) })),
  };
  const called = new Set(plan.builtins.filter((name) => !manifest.builtins.includes(name)));
  return {
    content: { manifest, plan: losslessJson(plan), ...(data === undefined ? {} : { data: losslessJson(data) }) },
    plainGroups: groupsOf(plain, called),
    libraryGroups: groupsOf(onLibraries, called),
  };
}

/** The document that an entrypoint names. */
function entrypointOf(root: RuleNode, name: unknown): Entrypoint {
  const path = typeof name === "string" ? parsePath(name) : undefined;
  if (path === undefined) throw new LoadError("module_entrypoints", `${String(name)} is not a path below data`);
  let node = root;
  for (const part of path) {
    const child = node.children.get(part);
    if (child === undefined) throw new LoadError("module_entrypoints", `${name} names no rule and no package`);
    node = child;
    if (node.rules?.kind === "function") throw new LoadError("module_entrypoints", `${name} is a function`);
    // the rest is inside of the document that its rules make
    if (node.rules !== undefined) break;
  }
  return { path, node };
}

/** The groups that hold builtins of these names, which are taken off the list. */
function groupsOf(groups: Readonly<Record<string, readonly Builtin[]>>, names: Set<string>): readonly string[] {
  return Object.entries(groups).flatMap(([group, builtins]) => {
    const held = builtins.filter(({ name }) => names.delete(name));
    return held.length === 0 ? [] : [group];
  });
}

/** A text as a JavaScript literal, which no page that holds it takes for the end of a script. */
function literal(text: string): string {
  const escaped = text.replace(/[\\'<\u2028\u2029]/g, (c) =>
    c === "\\" || c === "'" ? `\\${c}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `'${escaped}'`;
}
