import { isIP, type Server, type Socket } from "node:net";
import { checkArgument } from "@seneschal/contract";

/** What the first bytes of a connection say of who is behind the balancer. */
export type ProxyHeader =
  /** Not whole yet. */
  | { readonly kind: "more" }
  /** So long; `address` is absent where the balancer speaks for itself, as its health checks do. */
  | { readonly kind: "header"; readonly length: number; readonly address?: string }
  /** No header: whoever sends this must not be believed. */
  | { readonly kind: "none" };

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const TEXT = Buffer.from("PROXY ", "latin1");
/** The longest header in text, with its line end. */
const LONGEST_TEXT = 107;
/** Of a binary header with all that may follow the addresses; balancers send some hundred bytes. */
const LONGEST = 2048;
const NONE = { kind: "none" } as const;
const MORE = { kind: "more" } as const;

/**
 * Reads the header of the PROXY protocol, version 1 (text) or 2 (binary), from the first bytes of a connection. What follows the
 * addresses in version 2 is passed over. Source: "The PROXY protocol, versions 1 & 2" (HAProxy), sections 2.1 and 2.2.
 */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader {
  checkArgument("bytes", bytes, "bytes");
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (begins(given, SIGNATURE)) return given.length < 16 ? MORE : readBinary(given);
  return begins(given, TEXT) ? readText(given) : NONE;
}

/** True for a part of the mark too. */
function begins(given: Buffer, mark: Buffer): boolean {
  const length = Math.min(given.length, mark.length);
  return given.subarray(0, length).equals(mark.subarray(0, length));
}

function readText(given: Buffer): ProxyHeader {
  const end = given.indexOf("\r\n");
  if (end < 0) return given.length < LONGEST_TEXT ? MORE : NONE;
  const length = end + 2;
  if (length > LONGEST_TEXT) return NONE;
  const [, family, source = "", target = "", ...ports] = given.toString("latin1", 0, end).split(" ");
  if (family === "UNKNOWN") return { kind: "header", length };
  const version = family === "TCP4" ? 4 : family === "TCP6" ? 6 : undefined;
  if (version === undefined || isIP(source) !== version || isIP(target) !== version) return NONE;
  return ports.length === 2 && ports.every(isPort) ? { kind: "header", length, address: source } : NONE;
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

function readBinary(given: Buffer): ProxyHeader {
  const [command = 0, family = 0] = given.subarray(12, 14);
  const length = 16 + given.readUInt16BE(14);
  if (command >> 4 !== 2 || (command & 15) > 1 || length > LONGEST) return NONE;
  if (given.length < length) return MORE;
  const isLocal = (command & 15) === 0;
  // Of a family that has no address here the balancer tells nothing, as the protocol has it.
  if (isLocal || family === 0) return { kind: "header", length };
  if (family === 0x11 && length >= 16 + 12) return { kind: "header", length, address: given.subarray(16, 20).join(".") };
  if (family === 0x21 && length >= 16 + 36) return { kind: "header", length, address: ipv6(given.subarray(16, 32)) };
  return NONE;
}

function ipv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** Who a connection comes from: told by the balancer before it, or seen. */
const told = new WeakMap<Socket, string>();

/** The address of the client of a connection, in the words of the PROXY protocol where its balancer speaks it. */
export function addressOf(socket: Socket): string {
  checkArgument("socket", socket, "object");
  return told.get(socket) ?? socket.remoteAddress ?? "";
}

/**
 * Has a server that does not listen yet read the PROXY protocol of the connections whose address `isProxy` names, and close those that do not
 * begin with it within `timeout` milliseconds. Of others nothing of the kind is read: what they send is the server's own protocol or TLS. What it returns
 * closes the connections that have not begun yet.
 */
export function acceptProxies(server: Server, isProxy: (address: string) => boolean, timeout: number): () => void {
  checkArgument("server", server, "object");
  checkArgument("isProxy", isProxy, "function");
  checkArgument("timeout", timeout, "number");
  const accept = server.listeners("connection") as ((this: Server, socket: Socket) => void)[];
  /** By the address of the connection, which is what a TLS connection has in common with the one that it runs on. */
  const behind = new Map<string, string>();
  const waiting = new Set<Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  // Before whoever serves the connection asks.
  server.prependListener("secureConnection", (secured: Socket) => {
    const address = behind.get(nameOf(secured));
    if (address !== undefined) told.set(secured, address);
  });
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const begin = (): void => {
      for (const listener of accept) listener.call(server, socket);
    };
    if (!isProxy(socket.remoteAddress ?? "")) {
      begin();
      return;
    }
    let held = Buffer.alloc(0);
    const drop = (): void => void socket.destroy();
    const timer = setTimeout(drop, timeout);
    waiting.add(socket);
    const over = (): void => {
      clearTimeout(timer);
      waiting.delete(socket);
    };
    const read = (): void => {
      // All that is there: from Node 26 on a read gives one piece, and nothing tells of the next.
      for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) held = Buffer.concat([held, bytes as Buffer]);
      const header = readProxyHeader(held);
      if (header.kind === "more") return;
      if (header.kind === "none") {
        drop();
        return;
      }
      over();
      socket.off("readable", read).off("error", drop).off("close", over);
      if (header.address !== undefined) {
        const name = nameOf(socket);
        told.set(socket, header.address);
        behind.set(name, header.address);
        socket.once("close", () => behind.delete(name));
      }
      if (held.length > header.length) socket.unshift(held.subarray(header.length));
      begin();
    };
    socket.on("readable", read).on("error", drop).on("close", over);
  });
  return () => {
    for (const socket of waiting) socket.destroy();
  };
}
