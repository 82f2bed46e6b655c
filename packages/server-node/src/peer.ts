import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { PeerCertificate } from "@seneschal/contract";

const known = new WeakMap<Socket, PeerCertificate | false>();

/**
 * The client certificate of a connection, as TLS saw it; `undefined` when none was presented. The verdict is a fact of the
 * handshake and is passed on, not acted on: the application answers in its own words and checks revocation on every request.
 */
export function peerOf(socket: Socket): PeerCertificate | undefined {
  const cached = known.get(socket);
  if (cached !== undefined) return cached === false ? undefined : cached;
  const peer = read(socket);
  known.set(socket, peer ?? false);
  return peer;
}

function read(socket: Socket): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const der = socket.getPeerCertificate().raw as Uint8Array | undefined;
  if (der === undefined) return undefined;
  const { authorized, authorizationError } = socket;
  // Typed as an Error, a string in fact.
  const error = authorized ? undefined : String(authorizationError);
  return { der, authorized, resumed: socket.isSessionReused(), ...(error === undefined ? {} : { error }) };
}
