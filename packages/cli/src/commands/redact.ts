import { open, rm } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Narrowing, Redacted, RedactionFormat, RedactionRule } from "@seneschal/governance";
import { CodedError, textDecoder } from "@seneschal/kernel";
import { Option } from "commander";
import { exitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { readBytes, readText } from "../read-file.ts";
import type { AddCommand } from "./add-command.ts";

type Format = RedactionFormat | "jsonl" | "parquet" | "xlsx";
type Governance = typeof import("@seneschal/governance");

/** What is read in one piece; of JSON Lines so many are judged together. */
const MOST = 16 << 20;

interface RedactOptions {
  readonly out: string;
  readonly format?: Format;
  readonly rule?: string[];
  readonly about?: string;
  readonly key?: string;
  readonly entity?: string[];
  readonly allow?: string[];
  readonly scoreThreshold?: number;
}

/** What is to be hidden, where that is not all that is found. Throws `usage` for an entity that nothing finds. */
function narrowingFrom(
  { entity, allow, scoreThreshold }: RedactOptions,
  { DEFAULT_TIER_POLICY, isKnownEntity }: Governance,
): Narrowing {
  for (const each of entity ?? [])
    if (!isKnownEntity(DEFAULT_TIER_POLICY, each)) throw new CodedError("usage", `--entity ${each}: no recogniser finds it`);
  if (scoreThreshold !== undefined && !(scoreThreshold >= 0 && scoreThreshold <= 1))
    throw new CodedError("usage", "--score-threshold: expected a number from 0 to 1");
  return {
    ...(entity === undefined ? {} : { entities: entity }),
    ...(allow === undefined ? {} : { allowList: allow }),
    ...(scoreThreshold === undefined ? {} : { scoreThreshold }),
  };
}

/** `seneschal redact` and `seneschal restore`: values of a file hidden and put back, on this machine. */
export const addRedact: AddCommand = (program, { host, result, exit }) => {
  const keyFile = () => new Option("--key <file>", "32 bytes, or 64 hex digits; needed to hash, tokenise, encrypt and restore");
  program
    .command("redact")
    .description(
      "hide the sensitive values of a text, JSON, JSON Lines or CSV file, of an event stream, a Parquet file or an Excel workbook",
    )
    .argument("<file>", "file")
    .requiredOption("--out <file>", "where the redacted file goes; it must not exist")
    .addOption(
      new Option("--format <format>", "default: by the file's name").choices([
        "text",
        "json",
        "jsonl",
        "csv",
        "tsv",
        "sse",
        "parquet",
        "xlsx",
      ]),
    )
    .option(
      "--rule <rules...>",
      "ENTITY=OPERATOR, TIER=OPERATOR or *=OPERATOR, such as PERSON=tokenise, CREDIT_CARD=mask:4, RESTRICTED=drop; the first that fits decides",
    )
    .option("--about <name>", "file, table or data set: context for the columns (default: the file's name)")
    .option("--entity <entities...>", "what is hidden, where that is not all that is found: EMAIL_ADDRESS PHONE_NUMBER")
    .option("--allow <values...>", "values, letter by letter, that are left as they are")
    .option("--score-threshold <number>", "findings of a lower score are left as they are, 0 to 1", Number)
    .addOption(keyFile())
    .action(async (file: string, options: RedactOptions) => {
      const governance = await import("@seneschal/governance");
      const keys = options.key === undefined ? undefined : await keysFrom(host, options.key);
      const policy = governance.DEFAULT_TIER_POLICY;
      const rules = (options.rule ?? []).map((rule) => ruleFrom(rule, governance));
      // As classification takes it.
      const about = options.about ?? basename(file).replace(/\.[^.]*$/, "");
      const given = {
        policy,
        recognisers: governance.narrowed(governance.DEFAULT_RECOGNISERS, narrowingFrom(options, governance)),
        rules: [...rules, ...(options.entity === undefined ? [] : [{ operator: "replace" as const }])],
        about,
        ...(keys === undefined ? {} : { keys }),
      };
      const format = options.format ?? formatOf(file);
      const counts = new Map<string, number>();
      const counted = ({ text, redactions }: Redacted): string => {
        for (const { entity } of redactions) counts.set(entity, (counts.get(entity) ?? 0) + 1);
        return text;
      };
      await written(host, options.out, async (write) => {
        if (format === "parquet" || format === "xlsx") {
          const done = await refusingLater(file, async () => {
            const { redactParquet, redactXlsx } = await import("@seneschal/adapters/redact-files");
            const bytes = await wholeBytes(host, file);
            return format === "xlsx" ? redactXlsx(bytes, given) : redactParquet(inMemory(bytes), given);
          });
          for (const [entity, count] of done.counts) counts.set(entity, count);
          return write(done.bytes);
        }
        if (format !== "jsonl") {
          const text = await wholeFile(host, file);
          return write(counted(refusing(file, () => governance.redactAs(format, text, given))));
        }
        for await (const lines of batchesOf(linesOf(host, file)))
          await write(counted(refusing(file, () => governance.redactJsonLines(lines, given))));
      });
      const entities = Object.fromEntries([...counts].sort());
      result(
        { file, out: options.out, redacted: entities },
        [
          `${options.out}: ${[...counts.values()].reduce((a, b) => a + b, 0)} values redacted`,
          ...Object.entries(entities).map(([entity, n]) => `  ${entity.padEnd(24)} ${n}`),
        ].join("\n"),
      );
    });
  program
    .command("restore")
    .description("put back what redact tokenised and encrypted under a key; ends with 1 where values of another key are left")
    .argument("<file>", "file")
    .requiredOption("--out <file>", "where the restored file goes; it must not exist")
    .addOption(keyFile().makeOptionMandatory())
    .action(async (file: string, options: { out: string; key: string }) => {
      const { DEFAULT_TIER_POLICY: policy, restore } = await import("@seneschal/governance");
      const keys = await keysFrom(host, options.key);
      const format = formatOf(file);
      const restored = async () => {
        if (format !== "parquet" && format !== "xlsx") {
          const { text, ...counts } = restore(await wholeFile(host, file), policy, keys);
          return { content: text, ...counts };
        }
        const { restoreParquet, restoreXlsx } = await import("@seneschal/adapters/redact-files");
        const given = await wholeBytes(host, file);
        const { bytes, ...counts } = await (format === "xlsx"
          ? restoreXlsx(given, policy, keys)
          : restoreParquet(inMemory(given), policy, keys));
        return { content: bytes, ...counts };
      };
      const { content, count, left } = await refusingLater(file, restored);
      if (count === 0 && left > 0)
        throw new CodedError(
          "file_invalid",
          `${options.key} is another key: none of the ${left} values of ${file} was taken under it`,
        );
      await written(host, options.out, (write) => write(content));
      const other = left === 0 ? "" : `; ${left} were taken under another key, and stay`;
      result({ file, out: options.out, restored: count, left }, `${options.out}: ${count} values restored${other}`);
      if (left > 0) exit(exitCode.no);
    });
};

function formatOf(file: string): Format {
  const ending = /\.(json|jsonl|ndjson|csv|tsv|sse|parquet|pq|xlsx)$/i.exec(file)?.[1]?.toLowerCase();
  if (ending === "json" || ending === "sse" || ending === "tsv" || ending === "parquet" || ending === "xlsx") return ending;
  if (ending === "pq") return "parquet";
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  return ending === undefined ? "text" : "csv";
}

function ruleFrom(
  text: string,
  { DEFAULT_TIER_POLICY: policy, REDACTION_OPERATORS: operators, parseRedactionRule, unknownInRule }: Governance,
): RedactionRule {
  const rule = parseRedactionRule(text, policy);
  if (rule === undefined)
    throw new CodedError("usage", `--rule ${text}: expected ENTITY=OPERATOR, with one of ${operators.join(", ")}`);
  if (unknownInRule(rule, policy) !== undefined)
    throw new CodedError("usage", `--rule ${text}: no recogniser finds ${rule.entity}`);
  return rule;
}

async function keysFrom(host: Host, name: string) {
  const bytes = await readBytes(host, name);
  const text = bytes.toString("latin1").trim();
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : bytes;
  if (key.length !== 32) throw new CodedError("file_invalid", `${name} is no key of 32 bytes`);
  const [{ redactionKeys }, { nodeCrypto }, { systemRandom }] = await Promise.all([
    import("@seneschal/governance"),
    import("@seneschal/adapters/node-crypto"),
    import("@seneschal/adapters/system"),
  ]);
  return redactionKeys(nodeCrypto, new Uint8Array(key), systemRandom);
}

async function wholeFile(host: Host, file: string): Promise<string> {
  const text = await readText(host, file);
  if (text.length > MOST) throw new CodedError("file_invalid", `${file} is larger than ${MOST >> 20} MiB; JSON Lines may be`);
  return text;
}

/** The lines of a file, each with its end; a line is at most as long as what is read in one piece. */
async function* linesOf(host: Host, file: string): AsyncGenerator<string> {
  const opened = await open(resolve(host.cwd, file)).catch(() => unreadable(file));
  try {
    const decode = textDecoder(file);
    let rest = "";
    for await (const bytes of opened.createReadStream()) {
      const text = decode(bytes as Uint8Array, true);
      if (rest.length + text.length > MOST)
        throw new CodedError("file_invalid", `${file} has a line longer than ${MOST >> 20} MiB`);
      if (!text.includes("\n")) rest += text;
      else {
        const lines = (rest + text).split(/(?<=\n)/);
        rest = text.endsWith("\n") ? "" : (lines.pop() ?? "");
        yield* lines;
      }
    }
    yield rest + decode();
  } finally {
    await opened.close();
  }
}

/** Lines that are judged together. */
async function* batchesOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let batch = "";
  for await (const line of lines) {
    if (batch.length + line.length > MOST) {
      yield batch;
      batch = "";
    }
    batch += line;
  }
  yield batch;
}

/** What is wrong with a text is wrong with its file. */
function refusing<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CodedError && error.code === "validation_failed")
      throw new CodedError("file_invalid", `${file}: ${error.message}`);
    throw error;
  }
}

async function refusingLater<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError && (error.code === "validation_failed" || error.code === "file_invalid"))
      throw new CodedError("file_invalid", `${file}: ${error.message}`);
    throw error;
  }
}

/** Binary files are held whole. */
const MOST_BYTES = 64 << 20;

async function wholeBytes(host: Host, file: string): Promise<Uint8Array> {
  const bytes = await readBytes(host, file);
  if (bytes.length > MOST_BYTES) throw new CodedError("file_invalid", `${file} is larger than ${MOST_BYTES >> 20} MiB`);
  return new Uint8Array(bytes);
}

function inMemory(bytes: Uint8Array) {
  return { byteLength: bytes.length, read: async (start: number, end: number) => bytes.slice(start, end) };
}

type Write = (content: string | Uint8Array) => Promise<void>;

async function written(host: Host, name: string, work: (write: Write) => Promise<void>): Promise<void> {
  const out = await open(resolve(host.cwd, name), "wx", 0o600).catch((cause: unknown) => {
    throw new CodedError("file_exists", `${name} exists or cannot be written`, {}, cause);
  });
  try {
    await work((content) => out.writeFile(content));
  } catch (error) {
    // Half a file would look like a whole one.
    await rm(resolve(host.cwd, name), { force: true });
    throw error;
  } finally {
    await out.close();
  }
}

function unreadable(name: string): never {
  throw new CodedError("file_unreadable", `${name} cannot be read`);
}
