import { type ClientOptions, client, MAX_PAGE } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { governanceContract } from "@seneschal/contract/governance";
import { schedulerContract } from "@seneschal/contract/scheduler";
import { fromBase64, hex } from "@seneschal/crypto";
import {
  type Checkpoint,
  type Growth,
  judgeGrowth,
  parseCheckpoint,
  parseVerifierKey,
  verifyNote,
} from "@seneschal/crypto/merkle";
import { CodedError, isCoded } from "@seneschal/kernel";
import { type Command, Option } from "commander";
import { type ConnectionOptions, connectTo, withConnection } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { chainLeadsTo } from "./audit-chain.ts";

/** How a command reaches a log. */
export interface LogOptions extends ConnectionOptions {
  readonly service: "gateway" | "governance" | "scheduler";
}

/** Adds the options of {@link connectLog} to a command. */
export function withLog(command: Command): Command {
  const service = new Option("--service <name>", "whose log").choices(["gateway", "governance", "scheduler"]).default("gateway");
  return withConnection(command).addOption(service);
}

interface Range {
  readonly since?: string;
  readonly until?: string;
}

/** A checkpoint that a federated partner has cosigned, as the service keeps it. */
interface Cosigned {
  readonly org_id: string;
  readonly note: string;
  readonly verifier_key: string;
}

/** The log of the caller's organisation, from outside. */
export interface AuditLog {
  /** The newest; none of a log that says that it is empty. */
  checkpoint(): Promise<
    { readonly note: string; readonly verifierKey: string; readonly witnesses?: readonly Cosigned[] } | undefined
  >;
  /** What the newest checkpoint is to one that was kept, by what the service shows for it: the proof of a tree, the entries of a chain. */
  judge(kept: Checkpoint, offered: Checkpoint): Promise<Growth>;
  /** What the service itself says of its log; a chain is read and hashed here. A range is the gateway's. */
  verify(
    range: Range,
  ): Promise<{ readonly valid: boolean; readonly accepted_gaps?: readonly { readonly first: number; readonly last: number }[] }>;
}

/** Runs `use` with a log, as `connect` does with a gateway. */
export function connectLog<R>(host: Host, options: LogOptions, use: (log: AuditLog) => Promise<R>): Promise<R> {
  const query = (first: number, second: number) => ({ query: { first: String(first), second: String(second) } });
  return connectTo(host, options.service, options, (reached) => {
    if (options.service === "scheduler") return use(chainOf(reached));
    if (options.service === "governance") {
      const governance = client(governanceContract, reached);
      return use({
        checkpoint: () =>
          unlessEmpty(async () => {
            const { checkpoint: note, verifier_key: verifierKey } = await governance.auditCheckpoint({});
            return { note, verifierKey };
          }),
        judge: byProof(async (first, second) => (await governance.auditConsistency(query(first, second))).proof),
        verify: async (range) => {
          refuseRange(range);
          return governance.verifyAudit({ body: {} });
        },
      });
    }
    const gateway = client(gatewayContract, reached);
    return use({
      checkpoint: () =>
        unlessEmpty(async () => {
          const { note, verifier_key: verifierKey, witnesses = [] } = await gateway.auditCheckpoint({});
          return { note, verifierKey, witnesses };
        }),
      judge: byProof(async (first, second) => (await gateway.auditConsistency(query(first, second))).proof),
      verify: (range) => gateway.verifyAudit({ body: range }),
    });
  });
}

/** The scheduler's log: no tree, but a chain whose newest hash is signed. */
function chainOf(reached: ClientOptions): AuditLog {
  const scheduler = client(schedulerContract, reached);
  const page = (through: number) => scheduler.listAudit({ query: { through, limit: MAX_PAGE } });
  const checkpoint = async () => {
    const { entries, note, verifier_key: verifierKey } = await scheduler.auditCheckpoint({});
    if (entries === 0) return undefined;
    if (note === undefined || verifierKey === undefined)
      throw new CodedError("unsupported", "the scheduler's release signs no notes, which a witness needs");
    return { note, verifierKey };
  };
  return {
    checkpoint,
    async judge(kept, offered) {
      const growth = judgeGrowth(kept, offered, []);
      const links = growth === "unproven" && (await chainLeadsTo(headOf(offered), headOf(kept), page));
      return links ? "grown" : growth;
    },
    async verify(range) {
      refuseRange(range);
      const newest = await checkpoint();
      if (newest === undefined) return { valid: true };
      const { text } = verifyNote(newest.note, [parseVerifierKey(newest.verifierKey).key]);
      return { valid: await chainLeadsTo(headOf(parseCheckpoint(text)), { size: 0, hash: "" }, page) };
    },
  };
}

const headOf = ({ size, root }: Checkpoint) => ({ size, hash: hex(root) });

/** By the consistency proof (base64) between two sizes. */
function byProof(proofOf: (first: number, second: number) => Promise<readonly string[]>): AuditLog["judge"] {
  return async (kept, offered) => {
    const proof = kept.size > 0 && kept.size < offered.size ? await proofOf(kept.size, offered.size) : [];
    return judgeGrowth(kept, offered, proof.map(fromBase64));
  };
}

function refuseRange(range: Range): void {
  if (Object.keys(range).length > 0) throw new CodedError("usage", "--since and --until are of a gateway's log");
}

async function unlessEmpty<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isCoded(error, "NOT_FOUND", "RESOURCE_NOT_FOUND")) return undefined;
    throw error;
  }
}
