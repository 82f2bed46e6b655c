import { connect, createServer, type Server, type Socket } from "node:net";

/** What a proxy leads to: a TCP port, a Unix socket's path, or nothing: then connections end at once. */
export type ProxyTarget = number | string | undefined;

/**
 * A TCP proxy that can misbehave: the network between a client and one member. It holds its port for as long as it lives: what
 * stands behind it may end, and come back on another port, without its address being anybody else's meanwhile.
 */
export interface TcpProxy {
  readonly port: number;
  /** Leads new connections there from now on; those that are open are cut. */
  aim(target: ProxyTarget): void;
  /** Cuts every connection now; new ones are accepted. */
  cut(): void;
  /** Swallows all bytes in both directions, without closing anything, until `heal`. */
  stall(): void;
  /** Lets requests through and swallows the replies, until `heal`. */
  swallowReplies(): void;
  heal(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(first?: ProxyTarget, host = "127.0.0.1"): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target = first;
  let mode: "open" | "stalled" | "no replies" = "open";
  const server: Server = createServer((near) => {
    if (target === undefined) {
      near.on("error", () => {});
      near.destroy();
      return;
    }
    const far = typeof target === "number" ? connect(target, host) : connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => mode !== "stalled" && far.write(bytes));
    far.on("data", (bytes) => mode === "open" && near.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    aim: (next) => {
      target = next;
      cut();
    },
    cut,
    stall: () => {
      mode = "stalled";
    },
    swallowReplies: () => {
      mode = "no replies";
    },
    // What was swallowed is gone: the connections are of no use any more.
    heal: () => {
      mode = "open";
      cut();
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
