import type { FileCaller, FileService, NfsServerOptions } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { mountProcedures, mountProgram, mountStatus } from "./mount3.ts";
import { nfsCalls } from "./nfs3/calls.ts";
import { statusOf, toText } from "./nfs3/convert.ts";
import { type NfsProcedure, nfsProcedures, nfsProgram } from "./nfs3/procedures.ts";
import type { ReplayCache } from "./replay-cache.ts";
import { acceptedReply, authStatus, type CallHead, credentialOf, deniedReply, readCall } from "./rpc/messages.ts";
import { decodeXdr } from "./xdr/decode.ts";
import { encodeXdr } from "./xdr/encode.ts";
import type { Shape } from "./xdr/types.ts";

/** What calls are answered with. */
export interface CallServices extends Pick<NfsServerOptions, "files" | "onCall" | "onFailure"> {
  readonly replays: ReplayCache;
}

/** A procedure of a program, by its number. */
interface Procedure {
  readonly name: string;
  readonly args: Shape;
  readonly reply: Shape;
  /** Needs no credential: it tells nothing. */
  readonly open?: boolean;
  /** Must not be carried out twice. */
  readonly once?: boolean;
  /** The value of `reply`, and the name of its status. */
  // biome-ignore lint/suspicious/noExplicitAny: each is given the arguments of its own type
  run(services: CallServices, caller: FileCaller, args: any): Promise<{ readonly value: unknown; readonly status: string }>;
}

const nobody: FileCaller = { address: "", uid: 65_534, gid: 65_534, gids: [] };
const done = { value: undefined, status: "OK" };

const once: ReadonlySet<string> = new Set(["SETATTR", "CREATE", "MKDIR", "SYMLINK", "REMOVE", "RMDIR", "RENAME"]);

const nfs = new Map<number, Procedure>(
  Object.entries(nfsProcedures).map(([name, { number, args, reply }]): [number, Procedure] => {
    if (name === "NULL") return [number, { name, args, reply, open: true, run: async () => done }];
    const call = nfsCalls[name as Exclude<NfsProcedure, "NULL">];
    return [
      number,
      {
        name,
        args,
        reply,
        once: once.has(name),
        async run({ files, onFailure }, caller, value) {
          try {
            return { value: { status: 0, value: await call.run(files, caller, value as never) }, status: "OK" };
          } catch (error) {
            const { status, name: told, ours } = statusOf(error);
            if (ours) onFailure?.(error, name);
            return { value: { status, failure: call.failure }, status: told };
          }
        },
      },
    ];
  }),
);

const mount = new Map<number, Procedure>([
  [0, { name: "MOUNT NULL", ...mountProcedures.NULL, open: true, run: async () => done }],
  [
    1,
    { name: "MNT", ...mountProcedures.MNT, run: ({ files, onFailure }, caller, { path }) => mnt(files, caller, path, onFailure) },
  ],
  // Who has mounted what is known to clients alone.
  [2, { name: "DUMP", ...mountProcedures.DUMP, run: async () => ({ value: [], status: "OK" }) }],
  [3, { name: "UMNT", ...mountProcedures.UMNT, run: async () => done }],
  [4, { name: "UMNTALL", ...mountProcedures.UMNTALL, run: async () => done }],
  [5, { name: "EXPORT", ...mountProcedures.EXPORT, open: true, run: async ({ files }, caller) => exportList(files, caller) }],
]);

async function mnt(
  files: FileService,
  caller: FileCaller,
  path: Uint8Array,
  onFailure: CallServices["onFailure"],
): Promise<{ value: unknown; status: string }> {
  try {
    const handle = await files.mount(caller, toText(path));
    return { value: { status: mountStatus.OK, value: { handle, flavors: [1] } }, status: "OK" };
  } catch (error) {
    const { name, ours } = statusOf(error);
    if (ours) onFailure?.(error, "MNT");
    const known = name in mountStatus ? (name as keyof typeof mountStatus) : "ESERVERFAULT";
    return { value: { status: mountStatus[known], failure: undefined }, status: name };
  }
}

function exportList(files: FileService, caller: FileCaller): { value: unknown; status: string } {
  const value = files.exports(caller).map(({ path, clients }) => ({
    path: Buffer.from(path),
    groups: clients.map((name) => ({ name: Buffer.from(name) })),
  }));
  return { value, status: "OK" };
}

const programs: ReadonlyMap<number, { readonly version: number; readonly procedures: ReadonlyMap<number, Procedure> }> = new Map([
  [nfsProgram.program, { version: nfsProgram.version, procedures: nfs }],
  [mountProgram.program, { version: mountProgram.version, procedures: mount }],
]);

/**
 * The reply to a call. Whatever its bytes are there is one, as long as they are a call at all. Throws `rpc_invalid` where they are not.
 */
export async function answerCall(services: CallServices, address: string, record: Uint8Array): Promise<readonly Uint8Array[]> {
  const { head, body } = readCall(record);
  const { xid } = head;
  if (head.rpcvers !== 2) return deniedReply(xid, { kind: "RPC_MISMATCH", value: { low: 2, high: 2 } });
  const program = programs.get(head.program);
  if (program === undefined) return acceptedReply(xid, { kind: "PROG_UNAVAIL", value: undefined });
  const { version, procedures } = program;
  if (head.version !== version) return acceptedReply(xid, { kind: "PROG_MISMATCH", value: { low: version, high: version } });
  const procedure = procedures.get(head.procedure);
  if (procedure === undefined) return acceptedReply(xid, { kind: "PROC_UNAVAIL", value: undefined });
  const caller = callerOf(head, address);
  if (caller === "bad") return deniedReply(xid, { kind: "AUTH_ERROR", value: authStatus.badCredential });
  if (caller === undefined && procedure.open !== true) return deniedReply(xid, { kind: "AUTH_ERROR", value: authStatus.tooWeak });
  const run = () => carryOut(services, procedure, caller ?? { ...nobody, address }, xid, body);
  return procedure.once === true ? services.replays.answer(address, record, run) : run();
}

async function carryOut(
  services: CallServices,
  procedure: Procedure,
  caller: FileCaller,
  xid: number,
  body: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const started = performance.now();
  const { name, reply } = procedure;
  const tell = (status: string) => services.onCall?.({ procedure: name, status, seconds: (performance.now() - started) / 1000 });
  let args: unknown;
  try {
    args = decodeXdr(procedure.args, body);
  } catch (error) {
    if (!isCoded(error, "xdr_invalid")) throw error;
    tell("GARBAGE_ARGS");
    return acceptedReply(xid, { kind: "GARBAGE_ARGS", value: undefined });
  }
  try {
    const { value, status } = await procedure.run(services, caller, args);
    const bytes = encodeXdr(reply, value);
    tell(status);
    return [...acceptedReply(xid, { kind: "SUCCESS", value: undefined }), ...bytes];
  } catch (error) {
    services.onFailure?.(error, name);
    tell("SYSTEM_ERR");
    return acceptedReply(xid, { kind: "SYSTEM_ERR", value: undefined });
  }
}

/** Who calls; `undefined` without a credential of AUTH_SYS, `bad` with a broken one. */
function callerOf(head: CallHead, address: string): FileCaller | "bad" | undefined {
  try {
    const user = credentialOf(head);
    return user && { address, uid: user.uid, gid: user.gid, gids: user.gids };
  } catch (error) {
    if (isCoded(error, "xdr_invalid")) return "bad";
    throw error;
  }
}
