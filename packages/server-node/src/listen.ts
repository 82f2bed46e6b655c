import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import {
  checkArgument,
  checkOptions,
  type Dispatch,
  type RunningServer,
  type ServeOptions,
  type TlsOptions,
} from "@seneschal/contract";
import { peerOf } from "./peer.ts";
import { acceptProxies, addressOf } from "./proxy-protocol.ts";

/** A server that is not listening yet, for a framework to fill. */
export interface Listener {
  readonly server: Server;
  listen(): Promise<RunningServer>;
  /** In place of `listen`: serves connections that somebody else has accepted. */
  adopt(): AdoptingServer;
}

/** A server that is handed its connections. */
interface AdoptingServer extends Pick<RunningServer, "setSecureContext" | "destroySockets" | "close"> {
  /** Takes a connection over, of which nothing was read. */
  connection(socket: Socket): void;
}

/**
 * Makes the HTTP or HTTPS server (TLS 1.2 and up) below a framework: time-outs, answers to what is not HTTP, connection
 * bookkeeping, graceful shutdown. `listen` rejects with Node's error, such as `EADDRINUSE`.
 */
export function listener(handler: RequestListener, dispatch: Dispatch, options: ServeOptions): Listener {
  checkOptions("options", options, {
    host: "string?",
    port: "number",
    tls: "object?",
    requestTimeout: "number?",
    idleTimeout: "number?",
    grace: "number?",
    proxyProtocol: "function?",
  });
  checkArgument("handler", handler, "function");
  checkArgument("dispatch", dispatch, "function");
  const {
    host = "127.0.0.1",
    port,
    tls,
    requestTimeout = 30_000,
    idleTimeout = 120_000,
    grace = 10_000,
    proxyProtocol,
  } = options;
  // Node looks for stalled requests every half minute, whatever the time-out is.
  const http = { requireHostHeader: false, connectionsCheckingInterval: Math.ceil(requestTimeout / 10) };
  const server: Server =
    tls === undefined
      ? createServer(http)
      : createTlsServer({ ...http, ...secureOptions(tls), handshakeTimeout: requestTimeout });
  const dropWaiting = proxyProtocol === undefined ? undefined : acceptProxies(server, proxyProtocol, requestTimeout);
  /** The newest response of each connection, until it is over. Of a set of those in progress V8 would keep all that ever were in it until a full collection. */
  const newest = new Map<Socket, ServerResponse | undefined>();
  /** All, with those whose handshake is not over, of which Node's own list does not know. */
  const open = new Set<Socket>();
  let closing: Promise<void> | undefined;

  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.requestTimeout = requestTimeout;
  server.headersTimeout = requestTimeout;
  server.keepAliveTimeout = idleTimeout;
  server.timeout = idleTimeout;
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    newest.set(socket, undefined);
    socket.once("close", () => newest.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    if (newest.has(socket)) newest.set(socket, response);
    response.once("close", () => {
      if (newest.get(socket) === response) newest.set(socket, undefined);
    });
    if (closing !== undefined) response.setHeader("connection", "close");
  });
  server.on("request", handler);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => void refuse(dispatch, error, socket));

  const close = async (): Promise<void> => {
    // A connection that is busy now must not be kept alive behind its answer.
    for (const response of newest.values()) if (response?.headersSent === false) response.setHeader("connection", "close");
    dropWaiting?.();
    const timer = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of open) socket.destroy();
    }, grace);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    // Of those that it was handed the server does not wait.
    await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    clearTimeout(timer);
  };

  const running: Omit<AdoptingServer, "connection"> = {
    setSecureContext(next) {
      if (tls === undefined) throw new TypeError("a server without TLS has no secure context");
      (server as TlsServer).setSecureContext(secureOptions(next));
    },
    destroySockets(predicate) {
      const chosen = [...newest.keys()].filter((socket) => predicate(peerOf(socket), addressOf(socket)));
      for (const socket of chosen) socket.destroy();
      return chosen.length;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };

  return {
    server,
    adopt() {
      // It never listens, and looks for requests that do not arrive in time all the same.
      server.emit("listening");
      return {
        ...running,
        connection(socket) {
          if (closing !== undefined) {
            socket.destroy();
            return;
          }
          // As those are that a server accepts itself.
          socket.allowHalfOpen = true;
          server.emit("connection", socket);
        },
      };
    },
    async listen() {
      await bind(server, { host, port });
      return { ...placeOn(server, tls !== undefined), ...running };
    },
  };
}

/** Listens; rejects with what keeps it from that. */
export async function bind(server: NetServer, at: { readonly host: string; readonly port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Where a listening server is reached. */
export function placeOn(server: NetServer, secure: boolean): Pick<RunningServer, "address" | "port" | "url"> {
  const { address, family, port } = server.address() as AddressInfo;
  const name = family === "IPv6" ? `[${address}]` : address;
  return { address, port, url: `${secure ? "https" : "http"}://${name}:${port}` };
}

function secureOptions(tls: TlsOptions): SecureContextOptions & { requestCert: boolean; rejectUnauthorized: false } {
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: "TLSv1.2",
    requestCert: tls.requestCert ?? false,
    rejectUnauthorized: false,
    ...(tls.ca === undefined ? {} : { ca: [...tls.ca] }),
    ...(tls.crl === undefined || tls.crl.length === 0 ? {} : { crl: [...tls.crl] }),
  };
}

/** Status line and text by Node's error code. */
const refusals: Readonly<Record<string, readonly [line: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the headers are larger than 16 KiB"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request did not arrive in time"],
};

/** Answers bytes that are not an HTTP request in the service's error shape, then closes. */
async function refuse(dispatch: Dispatch, { code = "" }: NodeJS.ErrnoException, socket: Socket): Promise<void> {
  // The parser's codes begin with HPE. Any other error is the connection's own, a handshake that failed or took too long among them: what
  // would be written now waits for a handshake that never ends, or is the answer to a request that was not read yet.
  if (!socket.writable || !(code in refusals || code.startsWith("HPE_"))) {
    socket.destroy();
    return;
  }
  const [line, broken] = refusals[code] ?? ["400 Bad Request", `this is not HTTP (${code})`];
  const { status, headers, body } = await dispatch({
    method: "GET",
    target: "",
    headers: {},
    body: new Uint8Array(),
    remoteAddress: addressOf(socket),
    broken,
  });
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  const lines = Object.entries({ ...headers, "content-length": String(bytes.length), connection: "close" });
  const head = `HTTP/1.1 ${status === 429 ? "429 Too Many Requests" : line}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
}
