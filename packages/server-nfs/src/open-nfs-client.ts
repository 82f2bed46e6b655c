import { connect, type Socket } from "node:net";
import { checkOptions } from "@seneschal/kernel";
import { mountProcedures, mountProgram } from "./mount3.ts";
import { type NfsProcedure, nfsProcedures, nfsProgram } from "./nfs3/procedures.ts";
import { nfsStatus } from "./nfs3/status.ts";
import { authFlavor, authSys, callHead, noAuth, replyHead } from "./rpc/messages.ts";
import { createRecordReader, frameRecord } from "./rpc/records.ts";
import { decodeXdr, decodeXdrPrefix } from "./xdr/decode.ts";
import { encodeXdr } from "./xdr/encode.ts";
import { protocolError } from "./xdr/protocol-error.ts";
import type { ValueOf, Xdr } from "./xdr/types.ts";

type Args<P extends NfsProcedure> = ValueOf<(typeof nfsProcedures)[P]["args"]>;
type Reply<P extends NfsProcedure> = ValueOf<(typeof nfsProcedures)[P]["reply"]>;

/** A connection to an NFS server, for tests, tools and programs that need no mount. */
export interface NfsClient {
  /** Calls a procedure; its reply has the status. Throws `rpc_refused`, `connection_closed`, `xdr_invalid`. */
  call<P extends NfsProcedure>(procedure: P, args: Args<P>): Promise<Reply<P>>;
  /** The handle of an export's root, or the status of the refusal. */
  mount(path: string): Promise<{ readonly status: number; readonly handle?: Uint8Array }>;
  exports(): Promise<readonly { readonly path: string; readonly groups: readonly string[] }[]>;
  close(): void;
}

export interface NfsClientOptions {
  readonly host: string;
  readonly port: number;
  /** The user of all calls; `undefined`: calls carry no credential. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly gids?: readonly number[] } | undefined;
  readonly maxReply?: number;
}

/** Connects to a server that has NFS and MOUNT on one port. */
export async function openNfsClient(options: NfsClientOptions): Promise<NfsClient> {
  checkOptions("options", options, { host: "string", port: "number", user: "object?", maxReply: "number?" });
  const { host, port, user, maxReply = 2 << 20 } = options;
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connect({ host, port }, () => resolve(opened));
    opened.once("error", reject);
  });
  socket.setNoDelay(true);
  const records = createRecordReader(maxReply);
  const waiting = new Map<number, { resolve(record: Uint8Array): void; reject(error: unknown): void }>();
  let xid = 0;
  const end = (): void => {
    for (const { reject } of waiting.values()) reject(protocolError("connection_closed", "the server closed the connection"));
    waiting.clear();
  };
  socket.on("error", () => undefined);
  socket.on("close", end);
  socket.on("data", (bytes: Buffer) => {
    for (const record of records.push(bytes)) {
      const id = Buffer.from(record).readUInt32BE(0);
      waiting.get(id)?.resolve(record);
      waiting.delete(id);
    }
  });
  const credential =
    user === undefined
      ? noAuth
      : {
          flavor: authFlavor.sys,
          body: Buffer.concat(
            encodeXdr(authSys, { stamp: 0, machine: Buffer.from("client"), uid: user.uid, gid: user.gid, gids: user.gids ?? [] }),
          ),
        };
  const exchange = async <A, R>(
    target: { readonly program: number; readonly version: number },
    { number, args: type, reply }: { readonly number: number; readonly args: Xdr<A>; readonly reply: Xdr<R> },
    args: A,
  ): Promise<R> => {
    xid += 1;
    const head = { xid, type: "CALL", rpcvers: 2, ...target, procedure: number, credential, verifier: noAuth } as const;
    const call = [...encodeXdr(callHead, head), ...encodeXdr(type, args)];
    const record = await new Promise<Uint8Array>((resolve, reject) => {
      if (socket.destroyed) return reject(protocolError("connection_closed", "the connection is closed"));
      waiting.set(xid, { resolve, reject });
      for (const piece of frameRecord(call)) socket.write(piece);
    });
    const { value, rest } = decodeXdrPrefix(replyHead, record);
    if (value.reply.kind !== "ACCEPTED" || value.reply.value.outcome.kind !== "SUCCESS") {
      const why = value.reply.kind === "ACCEPTED" ? value.reply.value.outcome.kind : value.reply.value.kind;
      throw protocolError("rpc_refused", `the server refused the call: ${why}`, { why });
    }
    return decodeXdr(reply, rest);
  };
  return {
    call: (procedure, args) => {
      const known = nfsProcedures[procedure] as unknown as {
        readonly number: number;
        readonly args: Xdr<typeof args>;
        readonly reply: Xdr<Reply<typeof procedure>>;
      };
      return exchange(nfsProgram, known, args);
    },
    async mount(path) {
      const reply = await exchange(mountProgram, mountProcedures.MNT, { path: Buffer.from(path) });
      return reply.status === nfsStatus.OK && "value" in reply
        ? { status: 0, handle: Buffer.from(reply.value.handle) }
        : { status: reply.status };
    },
    async exports() {
      const reply = await exchange(mountProgram, mountProcedures.EXPORT, undefined);
      const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
      return reply.map(({ path, groups }) => ({ path: text(path), groups: groups.map(({ name }) => text(name)) }));
    },
    close: () => socket.destroy(),
  };
}
