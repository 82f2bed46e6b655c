import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { Client } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type Awaited,
  type CeremonyOutcome,
  CeremonyState,
  type CustodianCard,
  CustodianKeys,
  cardFingerprint,
  ceremonyStep,
  custodianCard,
  type DealtReport,
  encodeTranscript,
  readCard,
  readKeyFile,
  receiversOf,
  type StartAct,
  seatsFlaw,
  shareAfter,
  shareBefore,
  signEntry,
  type TranscriptEntry,
  type TranscriptReport,
  type TranscriptView,
  takeSeat,
  thresholdOf,
  verifyTranscript,
  type WitnessOutcome,
  witnessStep,
} from "@seneschal/crypto/custody";
import { type CrkPublicJson, crkFromJson, crkToJson, Share } from "@seneschal/crypto/threshold";
import { CodedError, isCoded } from "@seneschal/kernel";
import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import { isConnection, type KeptTranscript, withTranscript } from "../custody/custodian-transcript.ts";
import { confirmationEntry, dealtReport, dealtResult, dealtText } from "../custody/dealt-transcript.ts";
import { type ModuleOption, openKeys, type SealOptions, sealKeys, withModule, withSeal } from "../custody/key-file.ts";
import { writeCard } from "../custody/write-card.ts";
import { replaceFile } from "../durable-file.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { readBytes, readIfThere, readJson } from "../read-file.ts";
import { wholeNumber } from "../whole-number.ts";
import { writeSecret } from "../write-secret.ts";
import type { AddCommand } from "./add-command.ts";
import { readShare } from "./sign.ts";

/**
 * `seneschal custodian ...`: a custodian's keys, and ceremonies that people hold among themselves. A gateway relays the transcript, or they hand
 * one file round, by whatever way; nobody but the custodians has a part of the key at any time. Formats: docs/custody.md.
 */
export const addCustodian: AddCommand = (program, context) => {
  const custodian = program.command("custodian").description("a custodian's own keys, and ceremonies by a gateway or by a file");
  addKeys(custodian, context);
  addEnroll(custodian, context);
  addStart(custodian, context);
  addAct(custodian, context);
  addConfirm(custodian, context);
};

/** `seneschal ceremony verify`: what a stranger can say of a transcript. Ends with 1 unless it holds, and is what was asked for. */
export function addVerify(ceremony: Command, { host, result, exit }: CommandContext): void {
  ceremony
    .command("verify")
    .description("verify a ceremony's transcript, offline")
    .argument("<transcript>", "the file")
    .option("--card <files...>", "the cards of everybody who may take part; default: whoever proves to hold the keys of a card")
    .option("--active", "say no unless the key is active")
    .option("--crk <file>", "write the public half of the active key there, for seneschal sign")
    .option("--log-key <key>", "where a gateway dealt: the verifier key of its audit log, which must have signed")
    .option("--confirmed", "where a gateway dealt: say no unless whoever holds a share has confirmed")
    .action(async (file: string, options: VerifyOptions) => {
      const bytes = await readBytes(host, file);
      const knows = await knownOf(host, options.card);
      const dealt = dealtReport(bytes, options.logKey);
      if (dealt !== undefined) return verifyDealt({ host, result, exit }, dealt, options, knows);
      if (options.logKey !== undefined || options.confirmed === true)
        throw new CodedError("usage", "--log-key and --confirmed are of a ceremony in which a gateway dealt");
      const report = verified(bytes, knows);
      if (!report.valid) {
        const { entry, reason } = report.refused;
        result({ valid: false, refused: report.refused }, `THE TRANSCRIPT DOES NOT HOLD: entry ${entry}, ${reason}`);
        return exit(exitCode.no);
      }
      const active = report.status === "active";
      if (active) await writeCrk(host, options.crk, report.crk);
      const { view, ...told } = report;
      const key = active ? [`public key: ${report.crk?.public_key}`] : [];
      const lines = [`every entry holds; the ceremony is ${report.status}`, ...described(view), ...key, ...blameText(view)];
      result({ ...told, threshold: thresholdOf(view.start), starter: named(view.start.starter) }, lines.join("\n"));
      if (!active && (options.active === true || options.crk !== undefined)) exit(exitCode.no);
    });
}

interface VerifyOptions {
  readonly card?: string[];
  readonly active?: boolean;
  readonly crk?: string;
  readonly logKey?: string;
  readonly confirmed?: boolean;
}

/** What is said of a ceremony in which a gateway dealt. */
async function verifyDealt(
  { host, result, exit }: Pick<CommandContext, "host" | "result" | "exit">,
  report: DealtReport,
  { active, crk, logKey, confirmed }: VerifyOptions,
  knows: Known | undefined,
): Promise<void> {
  const stranger = report.valid && report.standing.dealt?.seats.some(({ card }) => card !== null && knows?.(card) === false);
  if (!report.valid || stranger === true) {
    const refused = report.valid ? { entry: report.standing.entries - 1, reason: "unknown_card" } : report.refused;
    result({ valid: false, refused }, `THE TRANSCRIPT DOES NOT HOLD: entry ${refused.entry}, ${refused.reason}`);
    return exit(exitCode.no);
  }
  const { dealt, start, confirmed: indexes } = report.standing;
  await writeCrk(host, crk, dealt?.crk);
  result(dealtResult(report), dealtText(report, logKey !== undefined).join("\n"));
  const missed = (active === true || crk !== undefined) && dealt === null;
  if (missed || (confirmed === true && indexes.length < start.total_shares)) exit(exitCode.no);
}

async function writeCrk(host: Host, name: string | undefined, crk: CrkPublicJson | undefined): Promise<void> {
  if (name === undefined || crk === undefined) return;
  await replaceFile(resolve(host.cwd, name), name, Buffer.from(`${JSON.stringify(crk)}\n`), 0o644);
}

/** `seneschal custodian confirm`: one's own word on what a gateway dealt. */
function addConfirm(custodian: Command, { host, result, exit }: CommandContext): void {
  withModule(withConnection(custodian.command("confirm")))
    .description("confirm, by one's own keys, the transcript of a key whose shares a gateway dealt; without --hash it is shown")
    .argument("<id>", "the key's id, or the ceremony's for who may not read root keys")
    .requiredOption("--keys <file>", "one's key file")
    .option("--log-key <key>", "the verifier key of the gateway's audit log, which must have signed the transcript")
    .option("--hash <hash>", "the transcript's hash, as the others have read it out")
    .action(async (id: string, options: ConnectionOptions & ModuleOption & { keys: string; logKey?: string; hash?: string }) => {
      await connect(host, options, async (gateway) => {
        const { bytes } = await dealtFile(gateway, id);
        const report = dealtReport(bytes, options.logKey);
        if (report === undefined) throw new CodedError("usage", "no gateway dealt this key: seneschal custodian act confirms it");
        if (!report.valid) {
          const { entry, reason } = report.refused;
          throw new CodedError("file_invalid", `the transcript does not hold from entry ${entry} on: ${reason}`, {
            ...report.refused,
          });
        }
        const shown = dealtText(report, options.logKey !== undefined);
        const { transcript, dealt } = report.standing;
        if (options.hash === undefined)
          return result(
            { confirmed: false, transcript },
            [...shown, "read the hash to the others by another way; --hash the one that they read"].join("\n"),
          );
        if (options.hash !== transcript) {
          result({ confirmed: false, transcript }, "THIS IS NOT THE TRANSCRIPT THAT THE OTHERS HAVE: nothing was confirmed");
          return exit(exitCode.no);
        }
        const own = await openKeys(host, options.keys, options);
        const entry = confirmationEntry(report, own, seconds());
        own.keys.erase();
        const answer = await gateway.confirmCrkTranscript({
          params: { id: dealt?.crk_id ?? id },
          body: { entry: { ...entry, act: { ...entry.act } } },
        });
        const awaited =
          answer.awaited.length === 0 ? "all who have keys have confirmed" : `to confirm: ${answer.awaited.join(", ")}`;
        result({ confirmed: true, transcript, indexes: answer.confirmed, awaited: answer.awaited }, `confirmed; ${awaited}`);
      });
    });
}

/** By the id of a key, or of the ceremony that dealt it: its people read that without an office. */
async function dealtFile(gateway: Client<GatewayContract>, id: string) {
  try {
    return await gateway.getCrkTranscript({ params: { id }, query: {} });
  } catch (error) {
    if (!isCoded(error, "FORBIDDEN", "NOT_FOUND")) throw error;
    return gateway.getCustodyTranscript({ params: { id } });
  }
}

function addKeys(custodian: Command, { host, result }: CommandContext): void {
  withSeal(custodian.command("new"))
    .description("make a custodian's keys on this machine, sealed by a passphrase or a token")
    .requiredOption("--org <id>", "the organisation")
    .requiredOption("--name <id>", "the custodian's identity there")
    .requiredOption("--out <file>", "the key file; readable by its owner only")
    .action(async (options: SealOptions & { org: string; name: string; out: string }) => {
      // Where there is a file to be opened, the library alone has a meaning.
      if (options.pkcs11 !== undefined && options.pkcs11Token === undefined)
        throw new CodedError("usage", "--pkcs11 needs --pkcs11-token and --pkcs11-key");
      const keys = CustodianKeys.generate(nodeCrypto, systemRandom);
      const card = custodianCard(nodeCrypto, keys, { orgId: options.org, custodianId: options.name }, systemRandom);
      const sealed = await sealKeys(host, { keys, card }, options);
      keys.erase();
      const file = await writeSecret(host, options.out, Buffer.from(sealed).toString("utf8"));
      result({ key_file: file, sealed_by: sealOf(sealed), fingerprint: fingerprint(card) });
    });
  withSeal(custodian.command("reseal"))
    .description("seal a key file anew, by another passphrase or a token; the keys and the card stay")
    .argument("<keys>", "the key file")
    .action(async (name: string, options: SealOptions) => {
      const own = await openKeys(host, name, options);
      try {
        const sealed = await sealKeys(host, own, options);
        const file = resolve(host.cwd, name);
        await replaceFile(file, name, sealed);
        result({ key_file: file, sealed_by: sealOf(sealed), fingerprint: fingerprint(own.card) });
      } finally {
        own.keys.erase();
      }
    });
  custodian
    .command("card")
    .description("the public card of a key file: who it is, with the proofs that one person holds both keys")
    .argument("<keys>", "the key file")
    .option("--out <file>", "write the card there")
    .action(async (name: string, options: { out?: string }) => {
      const card = await cardIn(host, name);
      if (options.out !== undefined) await writeCard(host, options.out, card);
      result({ card, fingerprint: fingerprint(card) }, named(card));
    });
}

function addEnroll(custodian: Command, { host, result }: CommandContext): void {
  withConnection(
    custodian.command("enroll").description("enrol one's keys with the organisation: two others confirm the fingerprint"),
  )
    .argument("<keys>", "the key file")
    .action(async (name: string, options: ConnectionOptions) => {
      const card = await cardIn(host, name);
      const { id, status } = await connect(host, options, (gateway) => gateway.enrollCustodian({ body: { card } }));
      const told = `enrolled as ${id}, to be confirmed by two others: ${named(card)}`;
      result({ id, status, fingerprint: fingerprint(card) }, told);
    });
}

function addStart(custodian: Command, { host, result }: CommandContext): void {
  withModule(withConnection(custodian.command("start")))
    .description("start a ceremony among custodians, which makes a root key or gives other shares of one: makes the transcript")
    .argument("[transcript]", "a new file that they hand round; left out with --url or --as: the gateway keeps it")
    .requiredOption("--keys <file>", "the starter's key file")
    .requiredOption("--seat <cards...>", "the cards of those who will hold a share, in the order of their seats")
    .requiredOption("--witness <card>", "the witness's card")
    .addOption(new Option("--kind <kind>", "what comes of it").choices(KINDS).default("generate"))
    .option("--threshold <n>", "generate, reshare: how many of them can sign, at least 2", wholeNumber)
    .option("--crk <file>", "all but generate: the public half of the key, as ceremony verify --crk writes it")
    .option("--dealer <index=card...>", "reshare, repair: who deals, with the share of which index of the key")
    .option("--lost <index>", "repair: the index of the share that the one seat has lost", wholeNumber)
    .option("--hours <n>", "until when all must have acted", wholeNumber, 168)
    .action(
      async (
        file: string | undefined,
        options: ConnectionOptions & ModuleOption & Terms & { keys: string; witness: string; hours: number },
      ) => {
        if ((file === undefined) !== isConnection(options))
          throw new CodedError("usage", "the transcript is a new file, or kept by the gateway of --url or --as: one of both");
        const terms = await termsOf(host, options);
        const [witness] = await cardsOf(host, [options.witness]);
        if (options.hours > 8784) throw new CodedError("usage", "--hours is at most a year");
        const { keys, card: starter } = await openKeys(host, options.keys, options);
        const at = seconds();
        const act = {
          ...({ type: "start", ...terms, starter } as const),
          witness: witness as CustodianCard,
          expires_at: at + options.hours * 3600,
        } satisfies StartAct;
        const name = Buffer.from(systemRandom(16)).toString("hex");
        const entry = signEntry(keys, { ceremony: name, author: starter.custodian_id, at }, act);
        keys.erase();
        const report = verifyTranscript(nodeCrypto, [entry]);
        if (!report.valid)
          throw new CodedError("usage", `these people cannot hold a ceremony: ${seatsFlaw(act) ?? report.refused.reason}`);
        const ceremony = file === undefined ? await startedAt(host, options, entry) : name;
        if (file !== undefined) await writeSecret(host, file, Buffer.from(encodeTranscript([entry])).toString("utf8"));
        result(
          { ceremony, seats: report.seats, witness: report.witness },
          [`ceremony ${ceremony}`, ...described(report.view)].join("\n"),
        );
      },
    );
}

const KINDS = ["generate", "refresh", "reshare", "repair"] as const;

/** What a start says beside when, by whom and before whom. */
interface Terms {
  readonly kind: (typeof KINDS)[number];
  readonly seat: string[];
  readonly threshold?: number;
  readonly crk?: string;
  readonly dealer?: string[];
  readonly lost?: number;
}

async function termsOf(host: Host, options: Terms) {
  const { kind, threshold, lost } = options;
  const has = { threshold, crk: options.crk, dealer: options.dealer, lost } as const;
  const needs = {
    generate: ["threshold"],
    refresh: ["crk"],
    reshare: ["crk", "threshold", "dealer"],
    repair: ["crk", "lost", "dealer"],
  };
  for (const name of ["threshold", "crk", "dealer", "lost"] as const) {
    const needed = needs[kind].includes(name);
    if ((has[name] === undefined) === needed)
      throw new CodedError("usage", `a ${kind} ${needed ? "needs" : "takes no"} --${name}`);
  }
  const seats = await cardsOf(host, options.seat);
  if (threshold !== undefined && (threshold < 2 || threshold > seats.length))
    throw new CodedError("usage", `--threshold is from 2 to the number of seats, ${seats.length}`);
  if (kind === "generate") return { kind, threshold: threshold as number, seats } as const;
  const crk = crkToJson(await crkOf(host, options.crk as string));
  if (kind === "refresh") return { kind, crk, seats } as const;
  const dealing = await dealersOf(host, seats, options.dealer as string[]);
  return kind === "reshare"
    ? ({ kind, crk, threshold: threshold as number, total_shares: seats.length, ...dealing } as const)
    : ({ kind, crk, index: lost as number, ...dealing } as const);
}

/** Who deals and holds no share afterwards has a seat behind those who will. */
async function dealersOf(host: Host, receivers: readonly CustodianCard[], named: readonly string[]) {
  const seats = [...receivers];
  const deals = receivers.map(() => 0);
  for (const text of named) {
    const [, index, file] = /^([1-9][0-9]{0,2})=(.+)$/.exec(text) ?? [];
    if (index === undefined || file === undefined)
      throw new CodedError("usage", `--dealer ${text} is not an index, an equals sign and a card`);
    const card = readCard(nodeCrypto, await readJson(host, file));
    const there = seats.findIndex((seat) => fingerprint(seat) === fingerprint(card));
    const seat = there < 0 ? seats.push(card) - 1 : there;
    deals[seat] = Number(index);
  }
  return { seats, deals };
}

/** The public half of a key. Throws `file_invalid`. */
async function crkOf(host: Host, name: string) {
  try {
    return crkFromJson((await readJson(host, name)) as CrkPublicJson);
  } catch (error) {
    throw isCoded(error) ? error : new CodedError("file_invalid", `${name} is not the public half of a key`, {}, error);
  }
}

/** The id of a ceremony that a gateway relays from here on. */
async function startedAt(host: Host, options: ConnectionOptions, entry: TranscriptEntry): Promise<string> {
  const body = { entry: { ...entry, act: { ...entry.act } } };
  const { id } = await connect(host, options, (gateway) => gateway.startCustodyCeremony({ body }));
  return id;
}

interface ActOptions extends ConnectionOptions, ModuleOption {
  readonly keys: string;
  readonly card?: string[];
  readonly state?: string;
  readonly join?: boolean;
  readonly confirm?: string;
  readonly held?: string;
  readonly share?: string;
}

/** What a turn came to. */
interface Turn {
  readonly entries: readonly TranscriptEntry[];
  readonly outcome: CeremonyOutcome | WitnessOutcome;
  /** One's own seat; the witness has none. */
  readonly seat?: number;
  /** Who takes part and by which terms, when the seat was taken in this turn. */
  readonly joined?: readonly string[];
  /** More of it, for the result. */
  readonly told?: object;
}

/** So often others may be first, in a row, before a turn is given up. */
const TRIES = 20;

function addAct(custodian: Command, { host, result, exit }: CommandContext): void {
  withModule(withConnection(custodian.command("act")))
    .description("do what is one's to do in a ceremony, and write it behind the transcript; again whenever it comes round")
    .argument("<transcript>", "the file; with --url or --as, the ceremony's id at the gateway")
    .requiredOption("--keys <file>", "one's key file")
    .option("--card <files...>", "the cards of everybody who takes part, as compared with each of them")
    .option("--state <file>", "what is kept between two turns, sealed by one's keys; removed at the end")
    .option("--join", "take the seat: people and threshold are as agreed")
    .option("--confirm <hash>", "confirm the key: the hash that the others have read out")
    .option("--held <file>", "one's share of the key that there is: for who deals with it in a refresh, reshare or repair")
    .option("--share <file>", "where one's share goes when the key is active; readable by its owner only")
    .action(async (name: string, options: ActOptions) => {
      const knows = await knownOf(host, options.card);
      const turn = await withTranscript(host, name, options, async (transcript) => {
        // What does not hold is refused before the passphrase or PIN is asked for.
        standing(name, await transcript.read(), knows);
        const own = await openKeys(host, options.keys, options);
        try {
          return await takeTurn(host, { name, transcript, knows }, own, options);
        } finally {
          own.keys.erase();
        }
      });
      const { outcome, acts } = turn;
      const told = { outcome: outcome.kind, acts, ...("transcript" in outcome ? { transcript: outcome.transcript } : {}) };
      const blame = outcome.kind === "failed" ? { blame: outcome.blame ?? null } : {};
      const awaited = outcome.kind === "waiting" ? { awaited: outcome.awaited } : {};
      const unwritten =
        options.share !== undefined && outcome.kind !== "active" ? [`no share was written to ${options.share}`] : [];
      result(
        { ...told, ...blame, ...awaited, ...turn.told, ...(unwritten.length > 0 ? { share: null } : {}) },
        [...(turn.joined ?? []), ...acts.map((type) => `act: ${type}`), ...textOf(turn, options), ...unwritten].join("\n"),
      );
      exit(turnEnds[outcome.kind]);
    });
}

/** What the transcript says. Throws `file_invalid`. */
function standing(name: string, bytes: Uint8Array, knows: Known | undefined): TranscriptView {
  const report = verified(bytes, knows);
  if (report.valid) return report.view;
  const { entry, reason } = report.refused;
  throw new CodedError("file_invalid", `${name} does not hold from entry ${entry} on: ${reason}`, { ...report.refused });
}

/** A turn, taken anew on what is there while others are first at a gateway. */
async function takeTurn(
  host: Host,
  { name, transcript, knows }: { readonly name: string; readonly transcript: KeptTranscript; readonly knows: Known | undefined },
  { keys, card }: { readonly keys: CustodianKeys; readonly card: CustodianCard },
  options: ActOptions,
): Promise<Turn & { readonly acts: readonly string[] }> {
  const acts: string[] = [];
  let joined: Turn["joined"];
  for (let tries = 0; tries < TRIES; tries++) {
    const bytes = await transcript.read();
    const view = standing(name, bytes, knows);
    let first = true;
    const append: Append = async (entries) => {
      if (entries.length > 0) first = await transcript.append(entries, bytes);
    };
    const witness = fingerprint(card) === fingerprint(view.start.witness);
    const turn = witness ? await witnessTurn(view, keys, options, append) : await seatTurn(host, view, keys, options, append);
    joined ??= turn.joined;
    if (!first) continue;
    acts.push(...turn.entries.map((entry) => entry.act.type));
    // The confirmation that was the last: the share is there to be taken now, where it was said where it goes.
    if (turn.outcome.kind !== "completes" || options.share === undefined)
      return { ...turn, acts, ...(joined === undefined ? {} : { joined }) };
  }
  throw new CodedError("unavailable", "others were faster each time: take the turn again");
}

type Append = (entries: readonly TranscriptEntry[]) => Promise<void>;

async function witnessTurn(view: TranscriptView, keys: CustodianKeys, options: ActOptions, append: Append): Promise<Turn> {
  const { confirm } = options;
  const step = witnessStep(nodeCrypto, { keys, view, at: seconds(), ...(confirm === undefined ? {} : { confirm }) });
  await append(step.entries);
  return step;
}

/** A seat's turn: the state is safe before a word is said, and the share before the state goes. */
async function seatTurn(
  host: Host,
  view: TranscriptView,
  keys: CustodianKeys,
  { state: stateName, join, confirm, held, share: shareName }: ActOptions,
  append: Append,
): Promise<Turn> {
  if (stateName === undefined) throw new CodedError("usage", "a seat needs --state");
  const path = resolve(host.cwd, stateName);
  const purpose = `ceremony/${view.ceremony}`;
  const state = await stateOf(host, stateName, keys, purpose);
  const before = state ?? takeSeat(view, keys, systemRandom);
  if (state === undefined) {
    const { seat } = before;
    const over = view.status === "open" ? "" : `; the ceremony is ${view.status}: where it was told so, the state was removed`;
    if (view.joined.has(seat))
      throw new CodedError("usage", `seat ${seat} is taken, and its state is not at ${stateName}${over}`);
    if (join !== true) throw new CodedError("usage", `${described(view).join("\n")}\nadd --join when this is as agreed`);
  }
  const index = shareBefore(view.start, before.seat);
  if (index > 0 && held === undefined)
    throw new CodedError("usage", `a ${view.start.kind} needs --held: one's share of index ${index} of the key that there is`);
  const step = ceremonyStep(nodeCrypto, {
    keys,
    state: before,
    view,
    at: seconds(),
    ...(index === 0 || held === undefined ? {} : { share: Share.decode((await readShare(host, held)).data) }),
    ...(confirm === undefined ? {} : { confirm }),
  });
  const { outcome } = step;
  const turn = { ...step, seat: before.seat, ...(state === undefined ? { joined: described(view) } : {}) };
  if (outcome.kind === "active" && shareName === undefined)
    throw new CodedError("usage", "the key is active: --share says where one's share goes");
  await replaceFile(path, stateName, keys.sealOwn(purpose, step.state.toBytes(), systemRandom));
  await append(step.entries);
  if (outcome.kind === "active") {
    const { share, crk } = outcome;
    const text = `${JSON.stringify({ index: share.index, data: share.encode() })}\n`;
    await writeShare(host, shareName as string, text);
    await rm(path);
    return { ...turn, told: { share: resolve(host.cwd, shareName as string), crk: crkToJson(crk) } };
  }
  if (outcome.kind === "dealt") {
    await rm(path);
    return { ...turn, told: { crk: crkToJson(outcome.crk) } };
  }
  // Over, as was shown: what the state opens is of no use to anybody any more.
  if (step.entries.length === 0 && (outcome.kind === "failed" || outcome.kind === "ended")) await rm(path);
  return turn;
}

async function stateOf(host: Host, name: string, keys: CustodianKeys, purpose: string): Promise<CeremonyState | undefined> {
  const sealed = await readIfThere(host, name);
  try {
    return sealed && CeremonyState.fromBytes(keys.openOwn(purpose, sealed));
  } catch (error) {
    if (!isCoded(error, "decryption_failed")) throw error;
    throw new CodedError("file_invalid", `${name} is the state of another ceremony or of other keys, or was changed`, {}, error);
  }
}

/** The share's own file, durable before the state goes; the same share may lie there from a turn that ended early. */
async function writeShare(host: Host, name: string, text: string): Promise<void> {
  const there = await readIfThere(host, name);
  if (there?.toString("utf8") === text) return;
  if (there !== undefined) throw new CodedError("file_exists", `${name} exists already`);
  await replaceFile(resolve(host.cwd, name), name, Buffer.from(text));
}

/** What a turn ends with: no, where the same turn taken again comes to nothing more. */
export const turnEnds: Readonly<Record<Turn["outcome"]["kind"], ExitCode>> = {
  waiting: exitCode.ok,
  confirm: exitCode.ok,
  completes: exitCode.ok,
  active: exitCode.ok,
  dealt: exitCode.ok,
  witnessed: exitCode.ok,
  other_hash: exitCode.no,
  no_share: exitCode.no,
  failed: exitCode.no,
  ended: exitCode.no,
  expired: exitCode.no,
  behind: exitCode.no,
  forked: exitCode.no,
  foreign: exitCode.no,
};

/** Who is to act, by their parts. */
function awaitedText({ seats, witness }: Awaited, own: number | undefined): string {
  const parts = [...seats.map((seat) => `seat ${seat}`), ...(witness ? ["the witness"] : [])];
  const again = own !== undefined && seats.includes(own) ? `; seat ${own} is one's own: take the next turn` : "";
  return `the key is not active yet; to act: ${parts.join(", ")}${again}`;
}

function textOf({ outcome, seat }: Turn, { confirm, share }: ActOptions): readonly string[] {
  switch (outcome.kind) {
    case "waiting":
      return [awaitedText(outcome.awaited, seat)];
    case "completes":
      return ["all have confirmed: the key is active; take one's share with --share FILE"];
    case "witnessed":
      return ["all have confirmed: the key is active"];
    case "no_share":
      return [
        "THE KEY IS ACTIVE, AND THIS SEAT HAS NO SHARE OF IT: with these keys was accepted what does not hold",
        `what does not hold was sealed by seat ${outcome.against.join(", ")}; a repair gives the share`,
      ];
    case "confirm":
      return [
        `the transcript's hash: ${outcome.transcript}`,
        "read it to the others by another way; --confirm the one that they read",
      ];
    case "other_hash":
      return [
        "THIS IS NOT THE TRANSCRIPT THAT THE OTHERS HAVE: nothing was confirmed",
        `theirs: ${confirm}`,
        `here: ${outcome.transcript}`,
      ];
    case "active":
      return [`the key is active; share: ${share}`];
    case "dealt":
      return [
        "the key is active, and one's part in the ceremony is over",
        outcome.keeps
          ? "keep the share that one holds: it is one of the key's as before"
          : "destroy every copy of the share that one held: as many of those as the old threshold still make the key",
      ];
    case "failed":
      return ["the ceremony has failed", ...(outcome.blame === undefined ? [] : [blamed(outcome.blame)])];
    case "ended":
      return ["the starter has ended the ceremony"];
    case "expired":
      return outcome.confirmed
        ? ["the time is over; the key may be active in a longer transcript: keep the state, and ask for it"]
        : ["the time is over"];
    case "behind":
      return ["an older part of the transcript: ask for the whole"];
    case "forked":
      return ["NOT THE TRANSCRIPT THAT WAS SEEN BEFORE: somebody shows different people different ones"];
    case "foreign":
      return ["SOMEBODY ELSE ACTS WITH THESE KEYS, or the state was lost"];
    default:
      return outcome satisfies never;
  }
}

/** Who takes part and by which terms, the fingerprints first: a name may look like anything. */
function described(view: TranscriptView): readonly string[] {
  const { seats, witness, starter, expires_at } = view.start;
  const confirmed = (is: boolean): string => (is ? ", has confirmed" : "");
  const { start } = view;
  const total = start.kind === "repair" ? start.crk.total_shares : receiversOf(start).length;
  const part = (seat: number): string => {
    if (start.kind === "generate" || start.kind === "refresh") return "";
    const deals = shareBefore(start, seat) > 0 ? [`deals with the share of index ${shareBefore(start, seat)}`] : [];
    const given = receiversOf(start).includes(seat) ? [`is given the share of index ${shareAfter(start, seat)}`] : [];
    return `, ${[...deals, ...given].join(", ")}`;
  };
  return [
    `${view.start.kind}, threshold ${thresholdOf(view.start)} of ${total}, until ${new Date(expires_at * 1000).toISOString()}`,
    ...seats.map((card, i) => `seat ${i + 1}: ${named(card)}${part(i + 1)}${confirmed(view.confirmed.has(i + 1))}`),
    `witness: ${named(witness)}${confirmed(view.witnessed)}`,
    `starter: ${named(starter)}`,
    ...(view.transcript === undefined ? [] : [`hash: ${view.transcript}`]),
  ];
}

const named = (card: CustodianCard): string =>
  `${fingerprint(card)} ${JSON.stringify(card.custodian_id)} of ${JSON.stringify(card.org_id)}`;
const blamed = ({ seat, reason, entry }: NonNullable<TranscriptView["blame"]>): string =>
  `seat ${seat} is to blame: ${reason} (entry ${entry})`;
const blameText = ({ blame }: TranscriptView): readonly string[] => (blame === undefined ? [] : [blamed(blame)]);

function verified(bytes: Uint8Array, knows: Known | undefined): TranscriptReport {
  return verifyTranscript(nodeCrypto, bytes, knows === undefined ? {} : { knows });
}

type Known = (card: CustodianCard) => boolean;

async function cardIn(host: Host, name: string): Promise<CustodianCard> {
  const file = (await readJson(host, name)) as { readonly card?: unknown } | null;
  return readCard(nodeCrypto, file?.card);
}

async function knownOf(host: Host, names: readonly string[] | undefined) {
  if (names === undefined) return undefined;
  const known = new Set((await cardsOf(host, names)).map(fingerprint));
  return (card: CustodianCard): boolean => known.has(fingerprint(card));
}

async function cardsOf(host: Host, names: readonly string[]): Promise<readonly CustodianCard[]> {
  return Promise.all(names.map(async (name) => readCard(nodeCrypto, await readJson(host, name))));
}

const sealOf = (file: Uint8Array): string => readKeyFile(file).seal.name;
const fingerprint = (card: CustodianCard): string => cardFingerprint(nodeCrypto, card);
const seconds = (): number => Math.floor(Date.now() / 1000);
