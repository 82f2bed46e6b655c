import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { resolve } from "node:path";
import {
  cosignNote,
  type Growth,
  type NoteKey,
  parseCheckpoint,
  parseVerifierKey,
  type VerifiedNote,
  verifyNote,
  witnessVerifierKey,
} from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";
import { type Command, InvalidArgumentError } from "commander";
import { type AuditLog, connectLog, type LogOptions, withLog } from "../audit/audit-log.ts";
import type { CommandContext } from "../command-context.ts";
import { replaceFile } from "../durable-file.ts";
import { exitCode } from "../exit-code.ts";
import { readBytes, readIfThere } from "../read-file.ts";
import { writeSecret } from "../write-secret.ts";

/** `seneschal audit witness-key` and `audit witness`: somebody elsewhere who remembers how far a log had come, and signs it (C2SP tlog-cosignature). */
export function addWitness(audit: Command, { host, result, exit }: CommandContext): void {
  audit
    .command("witness-key")
    .description("make a witness's key on this machine; says the verifier key that others check its cosignatures by")
    .requiredOption("--name <name>", "the witness's name in its cosignatures, for example witness.example.org", keyName)
    .requiredOption("--out <file>", "the private key, PEM; readable by its owner only")
    .action(async (options: { name: string; out: string }) => {
      const { privateKey } = generateKeyPairSync("ed25519");
      const file = await writeSecret(host, options.out, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
      result({ key_file: file, verifier_key: witnessVerifierKey(witnessOf(options.name, privateKey)) });
    });
  withLog(audit.command("witness").description("see that the log goes on from where it was seen last, and sign where it is"))
    .argument("<checkpoint>", "the file that keeps the cosigned checkpoint from one time to the next; made at the first")
    .requiredOption("--witness-key <file>", "the witness's private key, Ed25519, PEM")
    .requiredOption("--name <name>", "the witness's name", keyName)
    .option("--log-key <key>", "the log's verifier key; default: at the first time whatever the log says, then the same")
    .action(async (file: string, options: LogOptions & { witnessKey: string; name: string; logKey?: string }) => {
      const secret = ed25519Of(await readBytes(host, options.witnessKey), options.witnessKey);
      const witness = witnessOf(options.name, secret);
      const before = (await readIfThere(host, file))?.toString("utf8");
      const kept = before === undefined ? undefined : { note: before, file };
      const seen = await connectLog(host, options, (log) => lookAgain(log, kept, [witness], options.logKey));
      const { growth, size, keptSize } = seen;
      const told = { growth, size, kept_size: keptSize ?? null, log_key: seen.logKey, witness: witnessVerifierKey(witness) };
      const wrong = trouble[growth];
      if (wrong !== undefined) {
        result({ witnessed: false, ...told }, `${wrong}: nothing was signed`);
        return exit(exitCode.no);
      }
      const seconds = Math.floor(Date.now() / 1000);
      const note = await cosignNote(seen.note, witness, seconds, (message) => sign(null, message, secret));
      // INVARIANT: the file never goes back: who signs two states of a log signs the second from the first.
      if ((await readIfThere(host, file))?.toString("utf8") !== before)
        throw new CodedError("file_changed", `${file} was changed by somebody else meanwhile: run it again`);
      await replaceFile(resolve(host.cwd, file), file, Buffer.from(note), 0o644);
      const first = `seen for the first time: compare its key, ${seen.logKey}, with whoever runs it`;
      const from = keptSize === undefined ? first : `it goes on from the ${keptSize} that were seen before`;
      result({ witnessed: true, ...told }, `the log has ${size} events; ${from}`);
    });
}

/** What `audit verify` says of a checkpoint that was kept elsewhere. */
export interface Proven {
  readonly growth: Judgement;
  /** The size that was kept. */
  readonly size: number;
  /** When each witness had seen it, RFC 3339. */
  readonly cosigned: Readonly<Record<string, string>>;
}

/** Whether a log goes on from a checkpoint that was kept, and that all these witnesses have cosigned. Throws `file_invalid` for one that they have not. */
export async function provenSince(
  log: AuditLog,
  kept: { readonly note: string; readonly file: string },
  witnesses: readonly string[],
): Promise<Proven> {
  const keys = witnesses.map(witnessKey);
  const { growth, keptSize = 0, cosignedAt } = await lookAgain(log, kept, keys);
  const times = Object.entries(cosignedAt).map(([name, seconds]) => [name, new Date(seconds * 1000).toISOString()]);
  return { growth, size: keptSize, cosigned: Object.fromEntries(times) };
}

/** The same of a checkpoint that a federated partner has cosigned. */
export interface Witnessed extends Proven {
  readonly org_id: string;
  readonly verifier_key: string;
}

/** Whether a log goes on from each checkpoint that partners have cosigned, as the service has kept them. Throws `file_invalid` for one that its partner has not signed. */
export async function provenByWitnesses(log: AuditLog): Promise<readonly Witnessed[]> {
  const { witnesses = [] } = (await log.checkpoint()) ?? {};
  const all: Witnessed[] = [];
  for (const { org_id, note, verifier_key } of witnesses)
    all.push({
      org_id,
      verifier_key,
      ...(await provenSince(log, { note, file: `the checkpoint of ${org_id}` }, [verifier_key])),
    });
  return all;
}

type Judgement = Growth | "other_key";

/** What is wrong with a log that does not go on; `undefined` for one that does. */
export const trouble: Readonly<Partial<Record<Judgement, string>>> = {
  other_key: "THE LOG SIGNS WITH ANOTHER KEY than was expected",
  put_back: "THE LOG WAS PUT BACK to an earlier state",
  forked: "THE LOG IS ANOTHER ONE than was signed before: keep both checkpoints, they are the evidence",
  unproven: "THE LOG DOES NOT GO ON from what was signed before",
};

interface Seen {
  readonly growth: Judgement;
  readonly size: number;
  readonly note: string;
  /** Empty where an empty log says none. */
  readonly logKey: string;
  readonly keptSize?: number;
  readonly cosignedAt: VerifiedNote["cosignedAt"];
}

/** The log as it is now, judged by a checkpoint that was kept, which its own key and all the witnesses have signed. */
async function lookAgain(
  log: AuditLog,
  kept: { readonly note: string; readonly file: string } | undefined,
  witnesses: readonly NoteKey[],
  expectedKey?: string,
): Promise<Seen> {
  const newest = await log.checkpoint();
  if (newest === undefined) return emptied(kept, witnesses);
  const { note, verifierKey: logKey } = newest;
  const { key } = parseVerifierKey(logKey);
  const offered = parseCheckpoint(verifyNote(note, [key]).text);
  const now = { size: offered.size, note, logKey };
  const verified = kept && verifiedNote(kept, [key, ...witnesses]);
  const known = verified === undefined || verified.signedBy.includes(key.name);
  if (!known || (expectedKey ?? logKey) !== logKey) return { growth: "other_key", ...now, cosignedAt: {} };
  if (verified === undefined) return { growth: "first", ...now, cosignedAt: {} };
  const { cosignedAt } = verified;
  for (const { name } of witnesses)
    if (cosignedAt[name] === undefined) throw new CodedError("file_invalid", `${kept?.file} has no cosignature of ${name}`);
  const checkpoint = parseCheckpoint(verified.text);
  return { growth: await log.judge(checkpoint, offered), ...now, keptSize: checkpoint.size, cosignedAt };
}

/** A log that is empty: there is nothing to sign, and what was signed before is gone. */
function emptied(kept: { readonly note: string; readonly file: string } | undefined, witnesses: readonly NoteKey[]): Seen {
  if (kept === undefined) throw new CodedError("log_empty", "the log is empty: there is no checkpoint yet");
  const cosignedAt = witnesses.length === 0 ? {} : verifiedNote(kept, witnesses).cosignedAt;
  const { size } = parseCheckpoint(kept.note.slice(0, kept.note.lastIndexOf("\n\n") + 1));
  return { growth: "put_back", size: 0, note: "", logKey: "", keptSize: size, cosignedAt };
}

function verifiedNote({ note, file }: { readonly note: string; readonly file: string }, keys: readonly NoteKey[]): VerifiedNote {
  try {
    return verifyNote(note, keys);
  } catch (error) {
    throw new CodedError("file_invalid", `${file} is no checkpoint that the log or a witness has signed`, {}, error);
  }
}

function witnessKey(text: string): NoteKey {
  try {
    const { key, signs } = parseVerifierKey(text);
    if (signs === "cosignatures") return key;
  } catch (error) {
    throw new CodedError("usage", `${text} is no witness's verifier key`, {}, error);
  }
  throw new CodedError("usage", `${text} is a log's verifier key, not a witness's`);
}

function ed25519Of(pem: Buffer, file: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (error) {
    throw new CodedError("file_invalid", `${file} is no private key in PEM`, {}, error);
  }
  throw new CodedError("file_invalid", `${file} is no Ed25519 key`);
}

function witnessOf(name: string, secret: KeyObject): NoteKey {
  const { x = "" } = createPublicKey(secret).export({ format: "jwk" });
  return { name, publicKey: new Uint8Array(Buffer.from(x, "base64url")) };
}

function keyName(text: string): string {
  if (/^[^\s+]+$/.test(text)) return text;
  throw new InvalidArgumentError("expected a name without spaces and plus");
}
