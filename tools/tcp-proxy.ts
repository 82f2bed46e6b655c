import { connect, createServer, type Server, type Socket } from "node:net";
import type { Address } from "./own-address.ts";

/** What a proxy leads to: a TCP port or address, a Unix socket's path, or nothing: then connections end at once. */
export type ProxyTarget = number | Address | string | undefined;

/**
 * A TCP proxy that can misbehave: the network between a client and one member. It holds its port for as long as it lives: what
 * stands behind it may end, and come back on another port, without its address being anybody else's meanwhile.
 */
export interface TcpProxy {
  readonly port: number;
  /** Leads new connections there from now on; those that are open are cut. */
  aim(target: ProxyTarget): void;
  /** Leads new connections there from now on, as a name does that was given another address; those that are open stay. */
  lead(target: ProxyTarget): void;
  /** From now on bytes arrive so many milliseconds after they were sent, in both directions: another site. */
  lag(milliseconds: number): void;
  /** Cuts every connection now; new ones are accepted. */
  cut(): void;
  /** Swallows all bytes in both directions, without closing anything, until `heal`. */
  stall(): void;
  /** Lets requests through and swallows the replies, until `heal`. */
  swallowReplies(): void;
  /**
   * Loses one answer: of the requests that hold the text `request`, the one after the next `skip` is carried out, and when its reply says
   * `answer` everything is cut instead, and nothing is reached until `heal`. Resolves then.
   */
  loseAnswer(request: string, answer: string, skip?: number): Promise<void>;
  heal(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(first?: ProxyTarget, host = "127.0.0.1"): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target = first;
  let late = 0;
  const later = (arrive: () => void): void => {
    if (late === 0) arrive();
    else setTimeout(arrive, late);
  };
  let mode: "open" | "stalled" | "no replies" | "closed" = "open";
  let losing: { readonly request: string; readonly answer: string; skip: number; readonly lost: () => void } | undefined;
  const server: Server = createServer((near) => {
    if (target === undefined || mode === "closed") {
      near.on("error", () => {});
      near.destroy();
      return;
    }
    /** Set from the request on: what the connection has answered to it. */
    let replies: string | undefined;
    const far =
      typeof target === "string" ? connect(target) : connect(typeof target === "number" ? { port: target, host } : target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        later(() => {
          near.destroy();
          far.destroy();
        });
      });
    }
    near.on("data", (bytes) => {
      if (losing !== undefined && replies === undefined && bytes.includes(losing.request)) {
        if (losing.skip === 0) replies = "";
        losing.skip -= 1;
      }
      if (mode !== "stalled") later(() => far.write(bytes));
    });
    far.on("data", (bytes) => {
      if (losing !== undefined && replies !== undefined) {
        replies += bytes.toString("latin1");
        if (!replies.includes(losing.answer)) return;
        const { lost } = losing;
        losing = undefined;
        mode = "closed";
        cut();
        lost();
      } else if (mode === "open") later(() => near.write(bytes));
    });
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
    lead: (next) => {
      target = next;
    },
    lag: (milliseconds) => {
      late = milliseconds;
    },
    cut,
    stall: () => {
      mode = "stalled";
    },
    swallowReplies: () => {
      mode = "no replies";
    },
    loseAnswer: (request, answer, skip = 0) =>
      new Promise((lost) => {
        losing = { request, answer, skip, lost };
      }),
    // What was swallowed is gone: the connections are of no use any more.
    heal: () => {
      mode = "open";
      losing = undefined;
      cut();
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
