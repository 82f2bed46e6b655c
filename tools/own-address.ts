import { createServer } from "node:net";

/** A TCP address. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Whoever listens here has the host to itself. */
const HELD = 65_535;
const PORT = 8000;

/**
 * An address of the loopback network that is nobody else's while this process lives, for programs that must be told where to
 * listen, and come back there after a restart. All of 127.0.0.0/8 is the loopback on Linux: each call takes a host of its own, where
 * neither outgoing connections nor other listeners draw their ports. Elsewhere it is a port that nobody listens on right now.
 */
export async function ownAddress(): Promise<Address> {
  if (process.platform !== "linux") return { host: "127.0.0.1", port: await freePort() };
  const part = (): number => 1 + Math.floor(Math.random() * 253);
  for (;;) {
    const host = `127.${part()}.${part()}.${part()}`;
    if (await hold(host)) return { host, port: PORT };
  }
}

/** True when the host was nobody's, and is this process's now. */
function hold(host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)));
    server.listen(HELD, host, () => {
      server.unref();
      resolve(true);
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
