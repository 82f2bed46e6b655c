import { resolve } from "node:path";
import type { Client } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { encodeTranscript, type TranscriptEntry } from "@seneschal/crypto/custody";
import { CodedError, isCoded } from "@seneschal/kernel";
import { replaceFile } from "../durable-file.ts";
import { type ConnectionOptions, connect } from "../gateway-connection.ts";
import type { Host } from "../host.ts";
import { readBytes } from "../read-file.ts";

/** Where a ceremony's transcript is kept: a file that people hand round, or a gateway that relays. */
export interface KeptTranscript {
  read(): Promise<Uint8Array>;
  /** Writes entries behind what was read. `false`: somebody else was first, and the turn is taken again on what is there now. */
  append(entries: readonly TranscriptEntry[], behind: Uint8Array): Promise<boolean>;
}

/** Runs `use` with the transcript that a command names: a file, or with `--url` or `--as` the id of a gateway's ceremony. */
export function withTranscript<R>(
  host: Host,
  name: string,
  options: ConnectionOptions,
  use: (transcript: KeptTranscript) => Promise<R>,
): Promise<R> {
  if (!isConnection(options)) return use(inFile(host, name));
  return connect(host, options, (gateway) => use(atGateway(gateway, name)));
}

/** Whether a command was told of a gateway. */
export function isConnection({ url, as }: ConnectionOptions): boolean {
  return url !== undefined || as !== undefined;
}

function inFile(host: Host, name: string): KeptTranscript {
  return {
    read: () => readBytes(host, name),
    async append(entries, behind) {
      if (!Buffer.from(behind).equals(await readBytes(host, name)))
        throw new CodedError("file_changed", `${name} was changed by somebody else meanwhile: take the turn again`);
      await replaceFile(resolve(host.cwd, name), name, Buffer.concat([behind, encodeTranscript(entries)]));
      return true;
    },
  };
}

function atGateway(gateway: Client<GatewayContract>, id: string): KeptTranscript {
  return {
    read: async () => (await gateway.getCustodyTranscript({ params: { id } })).bytes,
    async append(entries) {
      for (const entry of entries) {
        try {
          await gateway.appendCustodyEntry({ params: { id }, body: { entry: { ...entry, act: { ...entry.act } } } });
        } catch (error) {
          if (isCoded(error, "STATE_CONFLICT") && error.details["reason"] === "chain") return false;
          throw error;
        }
      }
      return true;
    },
  };
}
