import { appendFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { CodedError } from "@seneschal/core";
import {
  type CeremonyOutcome,
  CeremonyState,
  type CustodianCard,
  CustodianKeys,
  cardFingerprint,
  ceremonyStep,
  confirmationOf,
  custodianCard,
  encodeTranscript,
  openKeyFile,
  readCard,
  sealKeyFile,
  signEntry,
  type TranscriptView,
  takeSeat,
  verifyTranscript,
} from "@seneschal/crypto/custody";
import { crkToJson } from "@seneschal/crypto/threshold";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { readText } from "../read-config.ts";
import { wholeNumber } from "../whole-number.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";

/**
 * `seneschal custodian ...`: a custodian's keys, and a ceremony that people hold among themselves. They hand one transcript file round, by
 * whatever way; nobody but the custodians has a part of the key at any time. Formats: docs/custody.md.
 */
export const addCustodian: AddCommand = (program, context) => {
  const custodian = program.command("custodian").description("a custodian's own keys, and ceremonies without a server");
  addKeys(custodian, context);
  addStart(custodian, context);
  addAct(custodian, context);
};

/** `seneschal ceremony verify`: what a stranger can say of a transcript. Ends with 1 unless every entry holds. */
export function addVerify(ceremony: Command, { host, result, exit }: CommandContext): void {
  ceremony
    .command("verify")
    .description("verify a ceremony's transcript, offline")
    .argument("<transcript>", "the file")
    .option("--card <files...>", "the cards of everybody who may take part; default: whoever proves to hold the keys of a card")
    .action(async (file: string, options: { card?: string[] }) => {
      const known = options.card && new Set((await cardsOf(host, options.card)).map(fingerprint));
      const report = verifyTranscript(nodeCrypto, await readFile(resolve(host.cwd, file)).catch(unreadable(file)), {
        ...(known && { knows: (card: CustodianCard) => known.has(fingerprint(card)) }),
      });
      if (!report.valid) {
        const { entry, reason } = report.refused;
        result({ valid: false, refused: report.refused }, `THE TRANSCRIPT DOES NOT HOLD: entry ${entry}, ${reason}`);
        return exit(exitCode.no);
      }
      const { view: _, ...told } = report;
      const blamed =
        report.blame && `seat ${report.blame.seat} is to blame: ${report.blame.reason} (entry ${report.blame.entry})`;
      result(
        told,
        [`every entry holds; the ceremony is ${report.status}`, ...people(report), ...(blamed ? [blamed] : [])].join("\n"),
      );
    });
}

function addKeys(custodian: Command, { host, result }: CommandContext): void {
  custodian
    .command("new")
    .description("make a custodian's keys on this machine, sealed by a passphrase")
    .requiredOption("--org <id>", "the organisation")
    .requiredOption("--name <id>", "the custodian's identity there")
    .requiredOption("--out <file>", "the key file; readable by its owner only")
    .action(async (options: { org: string; name: string; out: string }) => {
      const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
      const card = custodianCard(nodeCrypto, keys, { orgId: options.org, custodianId: options.name }, systemRandom);
      const passphrase = await host.askSecret("new passphrase for the keys: ");
      if (passphrase !== (await host.askSecret("the same again: "))) throw new CodedError("usage", "the passphrases differ");
      const sealed = await sealKeyFile(nodeCrypto, { keys, card }, passphrase, systemRandom);
      keys.erase();
      const file = await writeSecret(host, options.out, Buffer.from(sealed).toString("utf8"));
      result({ key_file: file, fingerprint: fingerprint(card) });
    });
  custodian
    .command("card")
    .description("the public card of a key file: who it is, with the proofs that one person holds both keys")
    .argument("<keys>", "the key file")
    .option("--out <file>", "write the card there")
    .action(async (name: string, options: { out?: string }) => {
      const { card } = jsonOf(name, await readText(resolve(host.cwd, name), name)) as { readonly card?: unknown };
      const read = readCard(nodeCrypto, card);
      if (options.out !== undefined)
        await writeFile(resolve(host.cwd, options.out), `${JSON.stringify(read)}\n`, { flag: "wx" }).catch(
          unwritable(options.out),
        );
      result({ card: read, fingerprint: fingerprint(read) }, `${read.custodian_id} of ${read.org_id}: ${fingerprint(read)}`);
    });
}

function addStart(custodian: Command, { host, result }: CommandContext): void {
  custodian
    .command("start")
    .description("start the generation of a root key among custodians: makes the transcript that they hand round")
    .argument("<transcript>", "a new file")
    .requiredOption("--keys <file>", "the starter's key file")
    .requiredOption("--seat <cards...>", "the custodians' cards, in the order of their seats")
    .requiredOption("--witness <card>", "the witness's card")
    .requiredOption("--threshold <n>", "how many of them can sign", wholeNumber)
    .option("--hours <n>", "until when all must have acted", wholeNumber, 168)
    .action(
      async (file: string, options: { keys: string; seat: string[]; witness: string; threshold: number; hours: number }) => {
        const seats = await cardsOf(host, options.seat);
        const [witness] = await cardsOf(host, [options.witness]);
        const { keys, card: starter } = await opened(host, options.keys);
        const at = seconds();
        const act = {
          ...({ type: "start", kind: "generate", threshold: options.threshold, seats, starter } as const),
          ...{ witness: witness as CustodianCard, expires_at: at + options.hours * 3600 },
        };
        const ceremony = Buffer.from(systemRandom(16)).toString("hex");
        const entry = signEntry(keys, { ceremony, author: starter.custodian_id, at }, act);
        keys.erase();
        const report = verifyTranscript(nodeCrypto, [entry]);
        if (!report.valid) throw new CodedError("usage", `these people cannot hold a ceremony: ${report.refused.reason}`);
        await writeFile(resolve(host.cwd, file), encodeTranscript([entry]), { flag: "wx" }).catch(unwritable(file));
        result(
          { ceremony, seats: report.seats, witness: report.witness },
          [`ceremony ${ceremony}`, ...people(report)].join("\n"),
        );
      },
    );
}

interface ActOptions {
  readonly keys: string;
  readonly state?: string;
  readonly join?: boolean;
  readonly confirm?: string;
  readonly share?: string;
}

function addAct(custodian: Command, { host, result, exit }: CommandContext): void {
  custodian
    .command("act")
    .description("do what is one's to do in a ceremony, and write it behind the transcript; again whenever it comes round")
    .argument("<transcript>", "the file")
    .requiredOption("--keys <file>", "one's key file")
    .option("--state <file>", "what is kept between two turns, sealed by one's keys; removed at the end")
    .option("--join", "take the seat: threshold, people and witness are as agreed")
    .option("--confirm <hash>", "confirm the key, once all were seen to have this same hash")
    .option("--share <file>", "where one's share goes when the key is active; readable by its owner only")
    .action(async (file: string, options: ActOptions) => {
      const path = resolve(host.cwd, file);
      const report = verifyTranscript(nodeCrypto, await readFile(path).catch(unreadable(file)));
      if (!report.valid)
        throw new CodedError("file_invalid", `${file} is no transcript: entry ${report.refused.entry}, ${report.refused.reason}`);
      const { view } = report;
      const { keys, card } = await opened(host, options.keys);
      const append = (entries: Parameters<typeof encodeTranscript>[0]) =>
        appendFile(path, encodeTranscript(entries)).catch(unwritable(file));
      if (fingerprint(card) === fingerprint(view.start.witness)) {
        const meant =
          view.transcript !== undefined && view.transcript === options.confirm && view.status === "open" && !view.witnessed;
        const act = meant ? [confirmationOf("witness", view)] : [];
        const by = { ceremony: view.ceremony, author: card.custodian_id, at: seconds() };
        const entries = act.map((one) => signEntry(keys, by, one, view));
        keys.erase();
        await append(entries);
        const told = { status: view.status, said: entries.map((entry) => entry.act.type), transcript: view.transcript ?? null };
        return result(told, told.said.length > 0 ? "witnessed" : waits(view));
      }
      const share = await turn(host, view, keys, options, append);
      keys.erase();
      result(share.told, share.text);
      if (share.failed) exit(exitCode.no);
    });
}

/** A seat's turn: the state is safe before a word is said, and the share before the state goes. */
async function turn(
  host: Host,
  view: TranscriptView,
  keys: CustodianKeys,
  { state: stateName, join, confirm, share: shareName }: ActOptions,
  append: (entries: Parameters<typeof encodeTranscript>[0]) => Promise<void>,
): Promise<{ readonly told: object; readonly text: string; readonly failed: boolean }> {
  if (stateName === undefined) throw new CodedError("usage", "a seat needs --state");
  const path = resolve(host.cwd, stateName);
  const purpose = `ceremony/${view.ceremony}`;
  const kept = await readFile(path).catch((error: { code?: unknown }) =>
    error.code === "ENOENT" ? undefined : unreadable(stateName)(error),
  );
  if (kept === undefined && join !== true)
    throw new CodedError("usage", `${view.start.seats.length} seats, ${thresholdText(view)}: add --join when this is as agreed`);
  const state = kept === undefined ? takeSeat(view, keys, systemRandom) : CeremonyState.fromBytes(keys.openOwn(purpose, kept));
  const step = ceremonyStep(nodeCrypto, { keys, state, view, at: seconds(), ...(confirm === undefined ? {} : { confirm }) });
  const { outcome } = step;
  if (outcome.kind === "active" && shareName === undefined)
    throw new CodedError("usage", "the key is active: --share says where one's share goes");
  await writeFile(`${path}.new`, keys.sealOwn(purpose, step.state.toBytes(), systemRandom), { mode: 0o600 }).catch(
    unwritable(stateName),
  );
  await rename(`${path}.new`, path);
  await append(step.entries);
  const said = step.entries.map((entry) => entry.act.type);
  if (outcome.kind !== "active") {
    const told = { outcome: outcome.kind, said, ...("transcript" in outcome ? { transcript: outcome.transcript } : {}) };
    return { told, text: [...said.map((type) => `said: ${type}`), textOf(outcome)].join("\n"), failed: !going.has(outcome.kind) };
  }
  const { share, crk } = outcome;
  const file = await writeSecret(host, shareName as string, `${JSON.stringify({ index: share.index, data: share.encode() })}\n`);
  await rm(path);
  return {
    told: { outcome: "active", said, share: file, crk: crkToJson(crk) },
    text: `the key is active; share: ${file}`,
    failed: false,
  };
}

const going: ReadonlySet<CeremonyOutcome["kind"]> = new Set(["waiting", "confirm", "active"]);

function textOf(outcome: CeremonyOutcome): string {
  switch (outcome.kind) {
    case "waiting":
      return "the others are to act";
    case "confirm":
      return `compare with the others, then --confirm ${outcome.transcript}`;
    case "behind":
      return "an older part of the transcript: ask for the whole";
    case "forked":
      return "NOT THE TRANSCRIPT THAT WAS SEEN BEFORE: somebody shows different people different ones";
    case "foreign":
      return "SOMEBODY ELSE ACTS WITH THESE KEYS, or the state was lost";
    default:
      return `the ceremony has ${outcome.kind === "failed" ? "failed" : "ended"}`;
  }
}

function waits({ status, transcript }: TranscriptView): string {
  return status === "open" && transcript !== undefined
    ? `compare with the others, then --confirm ${transcript}`
    : `nothing to witness: the ceremony is ${status}`;
}

function thresholdText({ start }: TranscriptView): string {
  return `threshold ${start.kind === "generate" ? start.threshold : start.crk.threshold}, witness ${start.witness.custodian_id}`;
}

interface Taking {
  readonly custodianId: string;
  readonly fingerprint: string;
  readonly confirmed: boolean;
}

function people({
  seats,
  witness,
}: {
  readonly seats: readonly (Taking & { readonly seat: number })[];
  readonly witness: Taking;
}): string[] {
  const line = (role: string, { custodianId, fingerprint: of, confirmed }: Taking) =>
    `${role}: ${custodianId}, ${of}${confirmed ? ", has confirmed" : ""}`;
  return [...seats.map((seat) => line(`seat ${seat.seat}`, seat)), line("witness", witness)];
}

async function opened(host: Host, name: string): Promise<{ readonly keys: CustodianKeys; readonly card: CustodianCard }> {
  const file = await readFile(resolve(host.cwd, name)).catch(unreadable(name));
  return openKeyFile(nodeCrypto, file, await host.askSecret(`passphrase of ${name}: `));
}

async function cardsOf(host: Host, names: readonly string[]): Promise<readonly CustodianCard[]> {
  return Promise.all(
    names.map(async (name) => readCard(nodeCrypto, jsonOf(name, await readText(resolve(host.cwd, name), name)))),
  );
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CodedError("file_invalid", `${name} is not JSON`, {}, error);
  }
}

const fingerprint = (card: CustodianCard): string => cardFingerprint(nodeCrypto, card);
const seconds = (): number => Math.floor(Date.now() / 1000);

function unreadable(name: string) {
  return (error: unknown): never => {
    throw new CodedError("file_unreadable", `${name} cannot be read`, {}, error);
  };
}

function unwritable(name: string) {
  return (error: unknown): never => {
    if ((error as { code?: unknown }).code === "EEXIST") throw new CodedError("file_exists", `${name} exists already`);
    throw new CodedError("file_unwritable", `${name} cannot be written`, {}, error);
  };
}
