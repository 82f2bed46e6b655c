import { decodeXdr, decodeXdrPrefix } from "../xdr/decode.ts";
import { encodeXdr } from "../xdr/encode.ts";
import { protocolError } from "../xdr/protocol-error.ts";
import { array, choice, enumeration, nothing, opaque, struct, unsigned, type ValueOf } from "../xdr/types.ts";

/** Flavours of authentication (RFC 5531, 8.2). */
export const authFlavor = { none: 0, sys: 1 } as const;

const opaqueAuth = struct({ flavor: unsigned, body: opaque(400) });

/** The credential of AUTH_SYS: who the client says that calls. */
export const authSys = struct({
  stamp: unsigned,
  machine: opaque(255),
  uid: unsigned,
  gid: unsigned,
  gids: array(unsigned, 16),
});
export type AuthSys = ValueOf<typeof authSys>;

/** The head of a call, without its arguments. */
export const callHead = struct({
  xid: unsigned,
  type: enumeration(["CALL"]),
  rpcvers: unsigned,
  program: unsigned,
  version: unsigned,
  procedure: unsigned,
  credential: opaqueAuth,
  verifier: opaqueAuth,
});
export type CallHead = ValueOf<typeof callHead>;

const versions = struct({ low: unsigned, high: unsigned });

const accepted = struct({
  verifier: opaqueAuth,
  outcome: choice({
    SUCCESS: [0, nothing],
    PROG_UNAVAIL: [1, nothing],
    PROG_MISMATCH: [2, versions],
    PROC_UNAVAIL: [3, nothing],
    GARBAGE_ARGS: [4, nothing],
    SYSTEM_ERR: [5, nothing],
  }),
});

const denied = choice({ RPC_MISMATCH: [0, versions], AUTH_ERROR: [1, unsigned] });

/** The head of a reply; the results follow an accepted one that is a success. */
export const replyHead = struct({
  xid: unsigned,
  type: enumeration(["REPLY"], 1),
  reply: choice({ ACCEPTED: [0, accepted], DENIED: [1, denied] }),
});
export type ReplyHead = ValueOf<typeof replyHead>;

/** Why a credential is refused. */
export const authStatus = { badCredential: 1, tooWeak: 5 } as const;

export const noAuth = { flavor: authFlavor.none, body: new Uint8Array(0) } as const;

/** A call's head and the bytes of its arguments. Throws `rpc_invalid` for a record that is none; then there is nobody to answer. */
export function readCall(record: Uint8Array): { readonly head: CallHead; readonly body: Uint8Array } {
  try {
    const { value, rest } = decodeXdrPrefix(callHead, record);
    return { head: value, body: rest };
  } catch {
    throw protocolError("rpc_invalid", "a record is no call");
  }
}

/** The AUTH_SYS credential of a call, where it is one. Throws `xdr_invalid`. */
export function credentialOf({ credential }: CallHead): AuthSys | undefined {
  return credential.flavor === authFlavor.sys ? decodeXdr(authSys, credential.body) : undefined;
}

type Outcome = Extract<ReplyHead["reply"], { readonly kind: "ACCEPTED" }>["value"]["outcome"];

/** The head of an accepted reply. */
export function acceptedReply(xid: number, outcome: Outcome): readonly Uint8Array[] {
  return encodeXdr(replyHead, { xid, type: "REPLY", reply: { kind: "ACCEPTED", value: { verifier: noAuth, outcome } } });
}

/** The head of a denied reply. */
export function deniedReply(
  xid: number,
  why: Extract<ReplyHead["reply"], { readonly kind: "DENIED" }>["value"],
): readonly Uint8Array[] {
  return encodeXdr(replyHead, { xid, type: "REPLY", reply: { kind: "DENIED", value: why } });
}
