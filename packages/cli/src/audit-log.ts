import { client } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { governanceContract } from "@seneschal/contract/governance";
import { CodedError, isCoded } from "@seneschal/kernel";
import { type Command, Option } from "commander";
import { type ConnectionOptions, connectTo, withConnection } from "./gateway-connection.ts";
import type { Host } from "./host.ts";

/** How a command reaches a log. */
export interface LogOptions extends ConnectionOptions {
  readonly service: "gateway" | "governance";
}

/** Adds the options of {@link connectLog} to a command. */
export function withLog(command: Command): Command {
  const service = new Option("--service <name>", "whose log").choices(["gateway", "governance"]).default("gateway");
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
  /** Hashes of the consistency proof, base64. */
  proof(first: number, second: number): Promise<readonly string[]>;
  /** What the service itself says of its log. A range is the gateway's. */
  verify(
    range: Range,
  ): Promise<{ readonly valid: boolean; readonly accepted_gaps?: readonly { readonly first: number; readonly last: number }[] }>;
}

/** Runs `use` with a log, as `connect` does with a gateway. */
export function connectLog<R>(host: Host, options: LogOptions, use: (log: AuditLog) => Promise<R>): Promise<R> {
  const query = (first: number, second: number) => ({ query: { first: String(first), second: String(second) } });
  return connectTo(host, options.service, options, (reached) => {
    if (options.service === "governance") {
      const governance = client(governanceContract, reached);
      return use({
        checkpoint: () =>
          unlessEmpty(async () => {
            const { checkpoint: note, verifier_key: verifierKey } = await governance.auditCheckpoint({});
            return { note, verifierKey };
          }),
        proof: async (first, second) => (await governance.auditConsistency(query(first, second))).proof,
        verify: async (range) => {
          if (Object.keys(range).length > 0) throw new CodedError("usage", "--since and --until are of a gateway's log");
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
      proof: async (first, second) => (await gateway.auditConsistency(query(first, second))).proof,
      verify: (range) => gateway.verifyAudit({ body: range }),
    });
  });
}

async function unlessEmpty<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isCoded(error, "NOT_FOUND", "not_found")) return undefined;
    throw error;
  }
}
