import { openLogger } from "@seneschal/adapters/logging";
import { acceptGap, archiveAudit, mendAudit, readInstanceLog, verifyArchiveDirectory } from "@seneschal/app";
import { CodedError, isCoded } from "@seneschal/kernel";
import { connectLog, type LogOptions, withLog } from "../audit/audit-log.ts";
import { bringShares } from "../custody/bring-shares.ts";
import { exitCode } from "../exit-code.ts";
import { type ConnectionOptions, connect, withConnection } from "../gateway-connection.ts";
import { readConfig } from "../read-config.ts";
import { readText } from "../read-file.ts";
import { version } from "../version.ts";
import { wholeNumber } from "../whole-number.ts";
import type { AddCommand } from "./add-command.ts";
import { addWitness, type Proven, provenByWitnesses, provenSince, trouble, type Witnessed } from "./audit-witness.ts";

type Gaps = readonly { readonly first: number; readonly last: number }[];

/** What verification says for ever of events that were accepted as gone. */
function butFor(gaps: Gaps = []): string {
  const texts = gaps.map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`));
  return texts.length === 0 ? "" : `, but for accepted gaps: ${texts.join(", ")}`;
}

function provenText({ size, cosigned }: Proven): string {
  const by = Object.entries(cosigned).map(([name, time]) => `, as ${name} had seen it at ${time}`);
  return `proven here: it goes on from the ${size} events of the checkpoint${by.join("")}`;
}

/** Of a checkpoint that the gateway itself keeps: it is worth what the key is, which the partner can tell. */
function witnessText({ org_id, growth, size, cosigned, verifier_key }: Witnessed): string {
  const [time] = Object.values(cosigned);
  const seen = `the ${size} events that the partner ${org_id} cosigned at ${time}`;
  return `${trouble[growth] ?? `proven here: it goes on from ${seen}`} (compare its key with ${org_id}: ${verifier_key})`;
}

interface VerifyOptions {
  readonly since?: string;
  readonly until?: string;
  readonly checkpoint?: string;
  readonly witness?: string[];
  readonly archive?: string;
  readonly verifierKey?: string;
}

/** What an archive in a directory is found to be. */
async function verifiedArchive(directory: string, expected: Parameters<typeof verifyArchiveDirectory>[1]) {
  try {
    const verdict = await verifyArchiveDirectory(directory, expected);
    const { segments, last, checkpoint, verifier_key } = verdict;
    const compare = expected.verifierKey === undefined ? ` (compare its key with what was kept: ${verifier_key})` : "";
    const proven =
      checkpoint === undefined
        ? []
        : checkpoint.reached
          ? [`proven here: it begins with the ${checkpoint.size} events of the checkpoint`]
          : [
              `NOT PROVEN: it does not reach up to the ${checkpoint.size} events of the checkpoint; audit verify without --archive goes on from there`,
            ];
    const text = [`the archive is whole: ${segments} segments, events 1 to ${last}${compare}`, ...proven].join("\n");
    return { verdict: { valid: true, ...verdict }, text, whole: checkpoint?.reached !== false };
  } catch (error) {
    if (!isCoded(error, "audit_archive_damaged")) throw error;
    return {
      verdict: { valid: false, problem: error.message },
      text: `THE ARCHIVE IS NOT WHOLE: ${error.message}`,
      whole: false,
    };
  }
}

/** `seneschal audit ...`; `verify` and `accept-gap` end with 1 when the log is not whole. */
export const addAudit: AddCommand = (program, { host, result, exit }) => {
  const audit = program.command("audit").description("the audit log of the caller's organisation");
  withLog(audit.command("verify").description("prove that no event was edited, removed, reordered or cut off"))
    .option("--since <time>", "RFC 3339")
    .option("--until <time>", "RFC 3339")
    .option("--checkpoint <file>", "a checkpoint that was kept elsewhere, from which the log must go on")
    .option("--witness <key...>", "verifier keys of witnesses that must have cosigned it")
    .option("--archive <directory>", "the segments of an archive instead, by these files alone")
    .option("--verifier-key <key>", "the log's verifier key as it was kept, for --archive")
    .action(async (options: LogOptions & VerifyOptions) => {
      const { since, until, checkpoint: file, witness = [], archive, verifierKey } = options;
      if (archive !== undefined) {
        if (since !== undefined || until !== undefined || witness.length > 0)
          throw new CodedError("usage", "--archive goes with --checkpoint and --verifier-key alone");
        const checkpoint = file === undefined ? {} : { checkpoint: await readText(host, file) };
        const { verdict, text, whole } = await verifiedArchive(archive, { ...checkpoint, ...(verifierKey && { verifierKey }) });
        result(verdict, text);
        if (!whole) exit(exitCode.no);
        return;
      }
      if (verifierKey !== undefined) throw new CodedError("usage", "--verifier-key is of an --archive");
      if (file === undefined && witness.length > 0) throw new CodedError("usage", "--witness is of a --checkpoint");
      const range = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
      const kept = file === undefined ? undefined : { file, note: await readText(host, file) };
      const { proven, ...verdict } = await connectLog(host, options, async (log) => ({
        ...(await log.verify(range)),
        proven: kept && (await provenSince(log, kept, witness)),
        witnesses: await provenByWitnesses(log),
      }));
      const { witnesses } = verdict;
      const wrong = [proven, ...witnesses].flatMap((one) => (one && trouble[one.growth]) ?? []);
      const whole = verdict.valid ? `the log is whole${butFor(verdict.accepted_gaps)}` : "THE LOG IS NOT WHOLE";
      const judged = [
        ...(proven === undefined ? [] : [trouble[proven.growth] ?? provenText(proven)]),
        ...witnesses.map(witnessText),
      ];
      result({ ...verdict, ...(proven === undefined ? {} : { proven }) }, [whole, ...judged].join("\n"));
      if (!verdict.valid || wrong.length > 0) exit(exitCode.no);
    });
  audit
    .command("archive")
    .description("move events that are due into the archives of the settings, now, while the services are stopped")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: { config?: string; set?: string[] }) => {
      const config = await readConfig(host, options);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      const segments = await archiveAudit(config, { log, version, operators: bringShares(host) });
      const text = segments.map(({ service, id, first, last }) => `${service} events ${first} to ${last}: ${id}`).join("\n");
      result({ segments }, text || "(nothing is due)");
    });
  audit
    .command("mend")
    .description("make the hashes that are kept of archived events anew from the archives, while the services are stopped")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: { config?: string; set?: string[] }) => {
      const config = await readConfig(host, options);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      const mended = await mendAudit(config, { log, version, operators: bringShares(host) });
      result({ mended }, mended.map(({ service, log: of }) => `${service} ${of}: made anew`).join("\n") || "(none is damaged)");
    });
  addWitness(audit, { host, result, exit });
  audit
    .command("accept-gap")
    .description("accept that events of the whole instance's log are gone for good, while the gateway is stopped")
    .requiredOption("--first <n>", "the first missing event, counted over all organisations", wholeNumber)
    .requiredOption("--last <n>", "the last one", wholeNumber)
    .requiredOption("--reason <text>", "what is known of how they went; it is recorded and signed")
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: { first: number; last: number; reason: string; config?: string; set?: string[] }) => {
      const config = await readConfig(host, options);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      const done = await acceptGap(config, options, { log, version, operators: bringShares(host) });
      result(done);
      if (!done.log.valid) exit(exitCode.no);
    });
  audit
    .command("instance")
    .description(
      "events that belong to no organisation, such as failed log-ins; of an embedded store while the gateway is stopped",
    )
    .option("--after <n>", "from behind this number on, counted over all organisations", wholeNumber, 0)
    .option("--limit <n>", "how many", wholeNumber, 100)
    .option("-c, --config <file>", "YAML or JSON file")
    .option("--set <path=value...>", "a setting by its path")
    .action(async (options: { after: number; limit: number; config?: string; set?: string[] }) => {
      const config = await readConfig(host, options);
      const log = openLogger({ level: "warn", destination: { write: (line) => host.err(line.trimEnd()) } });
      const events = await readInstanceLog(config, options, { log, version, operators: bringShares(host) });
      const lines = events.map(
        ({ seq, timestamp, event_type: type, result: outcome, actor, metadata }) =>
          `${seq} ${timestamp} ${type.padEnd(28)} ${outcome.padEnd(8)} ${actor} ${JSON.stringify(metadata)}`,
      );
      result({ events }, lines.join("\n") || "(none)");
    });
  withConnection(audit.command("list").description("newest events"))
    .option("--limit <n>", "how many", "20")
    .option("--type <event_type>", "only this kind")
    .action(async (options: ConnectionOptions & { limit: string; type?: string }) => {
      const { limit, type } = options;
      const query = { limit, ...(type === undefined ? {} : { event_type: type }) };
      const { events } = await connect(host, options, (gateway) => gateway.listAudit({ query }));
      result(
        { events },
        events
          .map(
            (event) =>
              `${event.timestamp} ${event.event_type.padEnd(28)} ${event.result.padEnd(8)} ${event.actor} ${event.workspace}`,
          )
          .join("\n") || "(none)",
      );
    });
};
