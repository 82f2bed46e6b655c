import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CodedError } from "@seneschal/kernel";
import {
  type Builtin,
  BuiltinError,
  type Bundle,
  builtinNames,
  type CompileOptions,
  DEFAULT_BUNDLE_LIMITS,
  define,
  joinBundles,
  mergeValues,
  readCapabilities,
  readDocument,
  type Source,
} from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { Host } from "../host.ts";
import { readIfThere, readJson, readText } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import { bundleOf, documentsOf, ignoredBy, loaded, sourcesOf } from "./policy-files.ts";

/** The options of every command that compiles policies. */
export interface PolicyOptions {
  readonly v0Compatible?: boolean;
  readonly bundle?: readonly string[];
  readonly verificationKey?: string;
  readonly signingAlg: string;
  readonly scope?: string;
  readonly skipVerify?: boolean;
  readonly sizeLimitBytes?: number;
  readonly capabilities?: string;
  readonly builtins?: readonly string[];
  readonly ignore?: readonly string[];
}

/** The options of every command that reads base documents, too. */
export interface DataOptions extends PolicyOptions {
  readonly data?: readonly string[];
}

/** The options of every command that evaluates them. */
export interface InputOptions extends DataOptions {
  readonly input?: string;
  readonly stdinInput?: boolean;
}

export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const collectNames = (value: string, before: readonly string[] = []): readonly string[] => [...before, ...value.split(",")];

export const withPolicy = (command: Command): Command =>
  command
    .option("-b, --bundle <path>", "a bundle, a directory or a .tar.gz; may be repeated", collect)
    .option("--verification-key <file>", "what the bundles are signed with: a public key, a certificate or a secret")
    .option("--signing-alg <name>", "the algorithm of the signature", "RS256")
    .option("--scope <name>", "the scope of the signature")
    .option("--skip-verify", "read signed bundles without verifying them")
    .option(
      "--size-limit-bytes <n>",
      `what a bundle may hold once it is unpacked (default ${DEFAULT_BUNDLE_LIMITS.bytes})`,
      wholeNumber,
    )
    .option("--v0-compatible", "the files are Rego v0; a bundle's manifest says it for its own")
    .option("--capabilities <file>", "the builtins and features that may be used, as opa capabilities writes them")
    .option("--builtins <module>", "a JavaScript module of own builtins, which is run; may be repeated", collect)
    .option(
      "--ignore <names>",
      "names of files and directories below the paths that are passed over, such as '.*,*_test.rego'; may be repeated",
      collectNames,
    );

export const withData = (command: Command): Command =>
  withPolicy(command).option(
    "-d, --data <path>",
    "base documents, a JSON or YAML file or a directory of them, and policies among them; may be repeated",
    collect,
  );

export const withInput = (command: Command): Command =>
  withData(command)
    .option("-i, --input <file>", "input as JSON or YAML")
    .option("-I, --stdin-input", "input from standard input, as JSON");

/** What a command line names: sources, documents, the bundles that they are from, and how to compile. */
interface PolicySet {
  readonly sources: readonly Source[];
  readonly data: Readonly<Record<string, unknown>>;
  readonly bundles: readonly Pick<Bundle, "revision" | "roots">[];
  readonly options: CompileOptions;
}

/** The sources that a command line names, of a command that reads no documents but those of bundles. Throws `usage` when it names none. */
export function sourceSetOf(host: Host, paths: readonly string[], options: PolicyOptions): Promise<PolicySet> {
  return setOf(host, paths, [], options, "required");
}

/** The sources and documents that a command line names. Throws `usage` when it names no source, unless they are optional. */
export function policyOf(
  host: Host,
  paths: readonly string[],
  options: DataOptions,
  need: "required" | "optional" = "required",
): Promise<PolicySet> {
  return setOf(host, paths, paths, options, need);
}

async function setOf(
  host: Host,
  paths: readonly string[],
  documented: readonly string[],
  options: DataOptions,
  need: "required" | "optional",
): Promise<PolicySet> {
  const { verificationKey, signingAlg: algorithm, scope } = options;
  const key =
    verificationKey === undefined
      ? {}
      : {
          key: {
            // the line end of a file belongs to no secret, and to a key in PEM it means nothing
            key: (await readText(host, verificationKey)).trimEnd(),
            algorithm,
            ...(scope === undefined ? {} : { scope }),
          },
        };
  const limits = options.sizeLimitBytes === undefined ? {} : { limits: { bytes: options.sizeLimitBytes } };
  const ignored = ignoredBy(options.ignore ?? []);
  const bundles: Bundle[] = [];
  for (const path of options.bundle ?? []) {
    bundles.push(await bundleOf(host, path, { ...key, ...limits, skipVerify: options.skipVerify === true }, ignored));
  }
  const bundled = loaded(() => joinBundles(bundles));
  const named = options.data ?? [];
  const version = options.v0Compatible === true ? "v0" : "v1";
  const plain = await sourcesOf(host, paths, { version, data: named, ignored }, bundles.length > 0 ? "optional" : need);
  const documents = await documentsOf(host, documented, named, ignored);
  const data = loaded(() =>
    mergeValues([
      { name: "the bundles", path: [], value: bundled.data },
      { name: "the files", path: [], value: documents },
    ]),
  );
  return { sources: [...bundled.sources, ...plain], data, bundles, options: await compileOptionsOf(host, options) };
}

async function compileOptionsOf(host: Host, options: PolicyOptions): Promise<CompileOptions> {
  const own: Builtin[] = [];
  for (const name of options.builtins ?? []) own.push(...(await builtinsOf(host, name)));
  const names = own.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new CodedError("file_invalid", `--builtins: ${twice} is declared twice`);
  return {
    ...(options.capabilities === undefined ? {} : { capabilities: await capabilitiesOf(host, options.capabilities) }),
    ...(own.length === 0 ? {} : { builtins: own }),
  };
}

/** What a capabilities file allows. Throws `file_invalid`. */
export async function capabilitiesOf(host: Host, name: string) {
  // OPA has those of its releases in its program.
  if (/^v\d+\.\d+\.\d+$/.test(name) && (await readIfThere(host, name)) === undefined)
    throw new CodedError(
      "usage",
      `--capabilities ${name}: no releases of OPA are kept here; \`opa capabilities --version ${name}\` writes the file`,
    );
  const document = await readJson(host, name);
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new CodedError("file_invalid", `${name} holds no capabilities: no object`);
  }
  return loaded(() => readCapabilities(document));
}

const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/** The builtins of a module: what its default export makes of `{ define, BuiltinError }`. Throws `file_unreadable`, `file_invalid`. */
async function builtinsOf(host: Host, name: string): Promise<readonly Builtin[]> {
  const path = resolve(host.cwd, name);
  await readText(host, name);
  const wrong = (what: string, cause?: unknown): CodedError => new CodedError("file_invalid", `${name}: ${what}`, {}, cause);
  let made: unknown;
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof module.default !== "function") throw new TypeError("its default export is no function");
    made = await module.default({ define, BuiltinError });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error), error);
  }
  if (!Array.isArray(made)) throw wrong("its default export gives no list of builtins");
  return made.map((builtin: Partial<Builtin> | null, i) => {
    const declared = Array.isArray(builtin?.args) && Array.isArray(builtin.accepts) && typeof builtin.run === "function";
    if (typeof builtin?.name !== "string" || !declared) throw wrong(`builtin ${i} is not made by define`);
    if (!NAME.test(builtin.name)) throw wrong(`${JSON.stringify(builtin.name)} is no name of a builtin`);
    if (builtinNames.includes(builtin.name)) throw wrong(`${builtin.name} is a builtin of the engine`);
    return builtin as Builtin;
  });
}

/** What `-i` names, or standard input holds; undefined for nothing. Throws `file_invalid`, and `usage` for both. */
export async function inputOf(host: Host, { input, stdinInput }: InputOptions): Promise<unknown> {
  if (input !== undefined && stdinInput === true) throw new CodedError("usage", "--input and --stdin-input exclude each other");
  if (stdinInput === true) return inputAs("standard input", await host.stdin());
  return input === undefined ? undefined : inputAs(input, await readText(host, input));
}

function inputAs(name: string, text: string): unknown {
  return loaded(() => readDocument(name, text));
}

/** An error of an evaluation as it is told: some messages hold their code behind a place, as those of OPA do. */
export function failureText({ code, message }: { readonly code: string; readonly message: string }): string {
  return message.includes(`${code}: `) ? message : `${code}: ${message}`;
}

/** How the command line evaluates: exactly, as it prints. */
export function settings(data: Readonly<Record<string, unknown>>) {
  return { data, now: Date.now(), clock: () => performance.now(), exact: true };
}

/** {@link settings} of one evaluation for a person: what the policy prints goes where no result goes. */
export function shownSettings(host: Host, data: Readonly<Record<string, unknown>>) {
  return { ...settings(data), print: (line: string) => host.err(line) };
}
