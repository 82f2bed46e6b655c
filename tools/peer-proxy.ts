import { connect, createServer, type Socket } from "node:net";
import type { Address } from "./own-address.ts";

/**
 * The network in front of one etcd member's peer port. Peer connections are HTTP and name their sender in
 * `X-Server-From`, so that single links can be cut without being root.
 */
export interface PeerProxy {
  readonly port: number;
  /** Cuts the links from senders for which `blocked` is true, now and until it is set again. */
  block(blocked: (from: string) => boolean): void;
  close(): void;
}

export async function startPeerProxy(target: Address): Promise<PeerProxy> {
  const links = new Map<Socket, string>();
  let blocked: (from: string) => boolean = () => false;
  const server = createServer((near) => {
    near.on("error", () => {});
    near.once("data", (first) => {
      const from = /X-Server-From: ([0-9a-f]+)/i.exec(first.toString("latin1"))?.[1] ?? "";
      if (blocked(from)) {
        near.destroy();
        return;
      }
      const far = connect(target);
      links.set(near, from);
      far.on("error", () => near.destroy());
      near.on("close", () => {
        links.delete(near);
        far.destroy();
      });
      far.write(first);
      near.pipe(far).pipe(near);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    block: (test) => {
      blocked = test;
      for (const [near, from] of links) if (test(from)) near.destroy();
    },
    close: () => {
      server.close();
      for (const near of links.keys()) near.destroy();
    },
  };
}
