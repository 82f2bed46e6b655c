import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { base64Bytes, type Contract, client, type Field, fieldsOf, type RawReply, type Route } from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import { type ConnectionOptions, connectTo, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { readBytes, readText } from "../read-file.ts";
import type { AddCommand } from "./add-command.ts";

type ServiceName = "gateway" | "governance" | "scheduler" | "storage";

/** Loaded when one of its commands is run. */
const contracts: Readonly<Record<ServiceName, () => Promise<Contract>>> = {
  gateway: async () => (await import("@seneschal/contract/gateway")).gatewayContract,
  governance: async () => (await import("@seneschal/contract/governance")).governanceContract,
  scheduler: async () => (await import("@seneschal/contract/scheduler")).schedulerContract,
  storage: async () => (await import("@seneschal/contract/storage")).storageContract,
};

const about: Readonly<Record<ServiceName, string>> = {
  gateway: "every call of the key-governance gateway: workspaces, identities, federation, policies, backups ...",
  governance: "every call of the data-governance service",
  scheduler: "every call of the scheduler: tenants, quotas, jobs, nodes",
  storage: "every call of a storage node's admin interface",
};

/** `seneschal gateway|governance|scheduler|storage CALL`: a command for each route, made from the contract. */
export const addServices: AddCommand = (program, context) => {
  const services = new Map(
    (Object.keys(contracts) as ServiceName[]).map((name) => [name, program.command(name).description(about[name])]),
  );
  program.hook("preSubcommand", async (_, chosen) => {
    const name = chosen.name() as ServiceName;
    if (services.get(name) !== chosen || chosen.commands.length > 0) return;
    for (const [id, route] of Object.entries(await contracts[name]())) addRoute(chosen, name, id, route, context);
  });
  for (const service of services.values()) {
    service.hook("preSubcommand", (_, chosen) => {
      fields.get(chosen)?.();
    });
  }
};

/** What adds the options of a command once it is chosen: a schema is taken apart for one call, not for all. */
const fields = new WeakMap<Command, () => void>();

/** `createWorkspace` is `create-workspace`. */
export function commandName(id: string): string {
  return id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

interface Given extends ConnectionOptions {
  readonly body?: string;
  readonly header?: readonly string[];
  readonly out?: string;
}

function addRoute(service: Command, name: ServiceName, id: string, route: Route, { host, result }: CommandContext): void {
  const command = withConnection(service.command(commandName(id)).copyInheritedSettings(service)).helpGroup(`${route.tag}:`);
  command.description(route.summary).option("--json", "write results as JSON");
  command.option("--header <name:value...>", "send a header, for example if-match or idempotency-key");
  const parts = parametersOf(route);
  for (const part of parts) command.argument(`<${part}>`);
  let query: readonly FieldOption[] = [];
  let body: readonly FieldOption[] = [];
  fields.set(command, () => {
    if (route.produces !== undefined) command.option("--out <file>", "write the answer to a file");
    if (route.body !== undefined || route.consumes !== undefined)
      command.option("--body <json>", "the whole body: JSON, @file, or - for standard input; fields named beside it win");
    query = fieldsOf(route.query).map((field) => addField(command, field, "query"));
    body = fieldsOf(route.body).map((field) => addField(command, field, "body"));
  });
  command.action(async (...args: unknown[]) => {
    const given = command.opts<Given & Record<string, unknown>>();
    const { mediaType, ...sent }: Awaited<ReturnType<typeof bodyOf>> = await bodyOf(route, body, given, host);
    const input = {
      params: Object.fromEntries(parts.map((part, index) => [part, String(args[index])])),
      query: valuesOf(query, given),
      headers: { ...(mediaType && { "content-type": mediaType }), ...Object.fromEntries((given.header ?? []).map(headerOf)) },
      ...sent,
    };
    await connectTo(host, name, given, async (reached) => {
      if (route.produces === "text/event-stream") return follow(route, input, reached, host);
      const call = client({ [id]: route }, reached)[id] as (all: unknown) => Promise<unknown>;
      const answer = await call(input);
      if (route.produces === undefined) result(answer ?? {});
      else await tellRaw(answer as RawReply, given.out, host, result);
    });
  });
}

/** The names in a path, in order. */
function parametersOf({ path }: Route): readonly string[] {
  return [...path.matchAll(/:([a-z0-9_]+)/g)].map(([, part = ""]) => part);
}

/** A field of a request, and the options that give it. */
interface FieldOption extends Field {
  readonly option: Option;
  /** Bytes are named by their file, too: what is text to its writer need not be base64 by chance. */
  readonly file?: Option;
}

/** A field's option has its name, and in front of that the part of the request where the command has an option of that name. */
function addField(command: Command, field: Field, part: "query" | "body"): FieldOption {
  const name = field.name.replaceAll(/[_.]/g, "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const taken = command.options.some(({ long }) => long === `--${name}` || long === `--${name}-file`);
  const flag = taken ? `--${part}-${name}` : `--${name}`;
  const option = optionOf(field, flag);
  command.addOption(option);
  if (part === "query" || field.kind !== "base64") return { ...field, option };
  const file = new Option(`${flag}-file <file>`, `the bytes of a file, or - for the text of standard input, as ${field.name}`);
  command.addOption(file);
  return { ...field, option, file };
}

function optionOf({ kind, description, required }: Field, flag: string): Option {
  const shape = {
    text: "<text>",
    base64: "<base64>",
    number: "<number>",
    boolean: "<true|false>",
    list: "<text...>",
    json: "<json>",
    any: "<value>",
  }[kind];
  return new Option(`${flag} ${shape}`, [description, required ? "(required)" : ""].join(" ").trim());
}

function valuesOf(all: readonly FieldOption[], given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    all.flatMap((field) => {
      const value = given[field.option.attributeName()];
      return value === undefined ? [] : [[field.name, readValue(field, value as string | string[])] as const];
    }),
  );
}

/** What the files say that stand in the place of base64. */
async function filesOf(all: readonly FieldOption[], given: Readonly<Record<string, unknown>>, host: Host) {
  const named = all.flatMap((field) => {
    const file = field.file && given[field.file.attributeName()];
    if (file === undefined) return [];
    if (given[field.option.attributeName()] !== undefined)
      throw new CodedError("usage", `${field.option.long} and ${field.file?.long}: one of the two`);
    return [{ field, file: String(file) }];
  });
  const read = async (file: string) => (file === "-" ? Buffer.from(await host.stdin()) : readBytes(host, file));
  const values = await Promise.all(
    named.map(async ({ field, file }) => [field.name, (await read(file)).toString("base64")] as const),
  );
  return Object.fromEntries(values);
}

function readValue({ kind, option, file }: FieldOption, text: string | string[]): unknown {
  const flag = option.long ?? option.flags;
  if (kind === "base64" && base64Bytes(String(text)) === undefined) {
    const way = file === undefined ? "" : `; text as it is goes by ${file.long} FILE, or - for standard input`;
    throw new CodedError("usage", `${flag}: expected base64${way}`);
  }
  if (Array.isArray(text) || kind === "text" || kind === "base64" || kind === "any") return text;
  const value = jsonOf(flag, text);
  if (kind !== "json" && kind !== "list" && typeof value !== kind) throw new CodedError("usage", `${flag}: expected a ${kind}`);
  return value;
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CodedError("usage", `${name}: expected JSON`);
  }
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf(":");
  if (at < 1) throw new CodedError("usage", `--header ${text}: expected name:value`);
  return [text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim()];
}

/** The body of a call: what `--body` says, and over it each field that has an option of its own. */
async function bodyOf(
  route: Route,
  all: readonly FieldOption[],
  given: Given & Record<string, unknown>,
  host: Host,
): Promise<{ readonly bytes?: Uint8Array<ArrayBuffer>; readonly mediaType?: string; readonly body?: unknown }> {
  const { body: named } = given;
  if (route.consumes !== undefined) {
    if (named === undefined) throw new CodedError("usage", "--body @file is needed");
    const bytes = named.startsWith("@") ? await readBytes(host, named.slice(1)) : Buffer.from(named, "base64");
    return { bytes: new Uint8Array(bytes), ...(await mediaTypeOf(route.consumes, named)) };
  }
  if (route.body === undefined) return {};
  const text =
    named === "-" ? await host.stdin() : named?.startsWith("@") === true ? await readText(host, named.slice(1)) : named;
  const whole = text === undefined ? undefined : jsonOf("--body", text);
  const single = { ...valuesOf(all, given), ...(await filesOf(all, given, host)) };
  if (Object.keys(single).length === 0) return { body: whole ?? {} };
  if (whole !== undefined && (typeof whole !== "object" || whole === null || Array.isArray(whole)))
    throw new CodedError("usage", "--body: fields can be named beside an object only");
  return {
    body: asTheSchemaReads(
      route,
      { ...whole, ...single },
      all.filter(({ name, kind }) => kind === "any" && Object.hasOwn(single, name)),
    ),
  };
}

/** Which of several media types a file has, by its name; `--header content-type:...` says another. */
async function mediaTypeOf(consumes: NonNullable<Route["consumes"]>, named: string) {
  if (typeof consumes === "string") return {};
  const { FILE_MEDIA_TYPES } = await import("@seneschal/contract/governance");
  const ending = /^@.*\.([a-z]+)$/i.exec(named)?.[1]?.toLowerCase();
  const [, type] = Object.entries(FILE_MEDIA_TYPES).find(([format]) => format === ending) ?? [];
  return type === undefined || !consumes.includes(type) ? {} : { mediaType: type };
}

/** A value of any kind is the text that it is written as, unless the schema takes what that text says as JSON. */
function asTheSchemaReads(route: Route, body: Record<string, unknown>, open: readonly Field[]): Record<string, unknown> {
  const mistakes = (one: object): number => route.body?.safeParse(one).error?.issues.length ?? 0;
  const read = { ...body };
  for (const { name } of open) {
    const before = mistakes(read);
    if (before === 0) break;
    const text = read[name];
    try {
      read[name] = JSON.parse(String(text)) as unknown;
      if (mistakes(read) >= before) read[name] = text;
    } catch {
      // It is no JSON: the service says what it expects.
    }
  }
  return read;
}

async function tellRaw(
  { bytes, mediaType, filename }: RawReply,
  out: string | undefined,
  host: Host,
  result: CommandContext["result"],
): Promise<void> {
  if (out !== undefined) {
    await writeFile(resolve(host.cwd, out), bytes, { mode: 0o600 });
    result({ file: out, media_type: mediaType, bytes: bytes.length });
    return;
  }
  const isText = /^(text\/|application\/(.*json|x-pem-file))/.test(mediaType);
  const text = Buffer.from(bytes).toString(isText ? "utf8" : "base64");
  result({ media_type: mediaType, filename: filename ?? null, [isText ? "text" : "base64"]: text }, text.trimEnd());
}

/** Events as they come, one line each, until they end or the process is told to. */
async function follow(
  route: Route,
  { params, query, headers }: { params: Record<string, string>; query: Record<string, unknown>; headers: Record<string, string> },
  { baseUrl, fetch, headers: shared }: Parameters<typeof client>[1],
  host: Host,
): Promise<void> {
  const path = route.path.replace(/:([a-z0-9_]+)/g, (_, part: string) => encodeURIComponent(params[part] ?? ""));
  const pairs = new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]));
  const ended = new AbortController();
  void host.interrupted.then(() => ended.abort());
  const common = typeof shared === "function" ? shared() : shared;
  const response = (await fetch(`${baseUrl}${path}${pairs.size === 0 ? "" : `?${pairs}`}`, {
    method: route.method,
    headers: { accept: "text/event-stream", ...common, ...headers },
    signal: ended.signal as never,
  })) as unknown as Response;
  if (response.status >= 400)
    throw new CodedError("refused", `the server answered ${response.status}`, { status: response.status });
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response.body ?? []) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) host.out(line.slice(5).trim());
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

/** For tests: every service, with what its commands are made from. */
export const serviceContracts = contracts;
