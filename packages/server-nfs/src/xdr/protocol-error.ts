import { CodedError } from "@seneschal/kernel";

/**
 * What this package throws about bytes: `xdr_invalid` for what is no value of its type, `rpc_invalid` for what is no RPC message or
 * record, `connection_closed` and `rpc_refused` for a client's calls.
 */
export type NfsProtocolCode = "xdr_invalid" | "rpc_invalid" | "rpc_refused" | "connection_closed";

export function protocolError(
  code: NfsProtocolCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): CodedError<NfsProtocolCode> {
  return new CodedError(code, message, details);
}
