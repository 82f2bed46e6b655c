import { checkArgument, checkOptions } from "../argument.ts";
import type { Builtin, Type } from "../builtins/builtin.ts";
import { builtinTable, type TableOptions, withDeprecated } from "../builtins/table.ts";
import type { Report } from "../compile/tree.ts";
import { LoadError } from "../load/load-error.ts";
import type { Module } from "../syntax/ast.ts";
import { visit } from "../syntax/visit.ts";

/** What policies may use, as a capabilities file of OPA lists it. Read one by {@link readCapabilities}. */
export interface Capabilities {
  /** Names of the builtins that may be called. Those that this engine has not stay unknown functions. */
  readonly builtins: ReadonlySet<string>;
  /** `rego_v1`, `rego_v1_import`, `keywords_in_refs`, `template_strings`; others change nothing. */
  readonly features: ReadonlySet<string>;
  /** What `import future.keywords` may bring to v0 where `rego_v1` is no feature. */
  readonly futureKeywords: ReadonlySet<string>;
}

/** A capabilities file, as `opa capabilities` prints it. */
export interface CapabilitiesDocument {
  readonly builtins: readonly {
    readonly name: string;
    readonly decl: object;
    readonly deprecated?: true;
    readonly relation?: true;
  }[];
  readonly features: readonly string[];
}

const MEMBERS = new Set(["builtins", "features", "future_keywords", "wasm_abi_versions", "allow_net"]);

/**
 * Reads a capabilities file of OPA (its JSON, parsed). Throws {@link LoadError} `capabilities_invalid` for an object that is none.
 *
 * @example
 * ```ts
 * import { check, readCapabilities } from "@seneschal/rego";
 * const capabilities = readCapabilities({ builtins: [{ name: "count" }], features: ["rego_v1"] });
 * const [problem] = check([{ name: "p.rego", source: "package p\n\nx := upper(\"a\")\n" }], { capabilities });
 * console.log(problem?.message); // undefined function upper
 * ```
 */
export function readCapabilities(document: unknown): Capabilities {
  const refuse = (what: string): never => {
    throw new LoadError("capabilities_invalid", what);
  };
  checkArgument("document", document, "object");
  const members = document as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) if (!MEMBERS.has(name)) refuse(`${name}: unknown member`);
  const names = (member: string): ReadonlySet<string> => {
    const list = members[member] ?? [];
    if (!Array.isArray(list) || !list.every((item) => typeof item === "string")) return refuse(`${member}: no list of texts`);
    return new Set(list);
  };
  const { builtins } = members;
  if (!Array.isArray(builtins)) return refuse("builtins: no list");
  const called = builtins.map((builtin: unknown, i): string => {
    const name = (builtin as { readonly name?: unknown } | null)?.name;
    return typeof name === "string" ? name : refuse(`builtins[${i}]: has no name`);
  });
  return { builtins: new Set(called), features: names("features"), futureKeywords: names("future_keywords") };
}

const FEATURES = ["keywords_in_refs", "rego_v1", "template_strings"];
const ANY = { type: "any" };
const PAIR = { type: "function", args: [ANY, ANY], result: { type: "boolean" } };
/** What the language itself calls. */
const LANGUAGE: CapabilitiesDocument["builtins"] = [
  { name: "assign", decl: PAIR },
  { name: "eq", decl: PAIR },
  { name: "internal.print", decl: { type: "function", args: [{ type: "array", dynamic: { type: "set", of: ANY } }] } },
  {
    name: "internal.template_string",
    decl: { type: "function", args: [{ type: "array", dynamic: ANY }], result: { type: "string" } },
  },
  { name: "rego.metadata.chain", decl: { type: "function", result: { type: "array", dynamic: ANY } } },
  { name: "rego.metadata.rule", decl: { type: "function", result: ANY } },
];

/** The capabilities of an engine with these options, as `opa capabilities --current` prints OPA's own. */
export function currentCapabilities(options: TableOptions & { readonly capabilities?: Capabilities } = {}): CapabilitiesDocument {
  checkOptions("options", options, { allow: "array?", deny: "array?", builtins: "array?", capabilities: "object?" });
  const { capabilities } = options;
  const current = builtinTable(options);
  const own = [...withDeprecated(current, options).values()].filter(({ name }) => name !== "internal.test_case");
  const builtins = own.map((builtin) => ({
    name: builtin.name,
    decl: declarationOf(builtin),
    ...(current.has(builtin.name) ? {} : { deprecated: true as const }),
    ...(builtin.name === "walk" ? { relation: true as const } : {}),
  }));
  const language = LANGUAGE.filter(({ name }) => capabilities?.builtins.has(name) ?? true);
  return {
    builtins: [...builtins, ...language].sort((a, b) => (a.name < b.name ? -1 : 1)),
    features: FEATURES.filter((name) => capabilities?.features.has(name) ?? true),
  };
}

function declarationOf({ name, args, result }: Builtin): object {
  if (name === "print") return { type: "function", variadic: ANY };
  return { type: "function", ...(args.length > 0 ? { args: args.map(typeJson) } : {}), result: typeJson(result) };
}

/** A type as OPA writes it. */
function typeJson(type: Type): object {
  switch (type.kind) {
    case "any":
      return type.of.length === 0 ? ANY : { type: "any", of: type.of.map(typeJson) };
    case "array": {
      const fixed = type.items.length === 0 ? {} : { static: type.items.map(typeJson) };
      return { type: "array", ...fixed, ...(type.rest === undefined ? {} : { dynamic: typeJson(type.rest) }) };
    }
    case "set":
      return { type: "set", of: typeJson(type.of) };
    case "object": {
      const { fields, rest } = type;
      const fixed = fields.length === 0 ? {} : { static: fields.map(({ key, value }) => ({ key, value: typeJson(value) })) };
      const dynamic = rest === undefined ? {} : { dynamic: { key: typeJson(rest.key), value: typeJson(rest.value) } };
      return { type: "object", ...fixed, ...dynamic };
    }
    default:
      return { type: type.kind };
  }
}

/** Reports the calls that the compiler would answer itself and that are not allowed. */
export function refuseMetadata(modules: readonly Module[], { builtins }: Capabilities, report: Report): void {
  for (const module of modules) {
    visit(module, {
      term: (term) => {
        if (term.kind !== "call" || term.operator.kind !== "ref" || term.operator.head.kind !== "var") return undefined;
        const { head, path } = term.operator;
        const name = [head.name, ...path.map((part) => (part.kind === "scalar" ? part.value : ""))].join(".");
        if (/^rego\.metadata\.(chain|rule)$/.test(name) && !builtins.has(name)) {
          report("rego_type_error", `undefined function ${name}`, module.name, term.loc);
        }
        return undefined;
      },
    });
  }
}
