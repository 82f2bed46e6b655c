import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";

/** What both ends say of a TLS connection. */
export async function handshake(
  server: { readonly cert: string; readonly key: string; readonly ca?: string },
  client: { readonly cert?: string; readonly key?: string; readonly ca: string; readonly servername?: string },
): Promise<string> {
  const listening = createServer({ ...server, requestCert: server.ca !== undefined, rejectUnauthorized: true }, (socket) =>
    socket.end("in"),
  ).listen(0, "127.0.0.1");
  listening.on("tlsClientError", () => {});
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, servername: "localhost", ...client });
  try {
    return await new Promise<string>((done) => {
      socket.once("data", () => done("accepted"));
      socket.once("error", (error: Error & { code?: string }) => done(error.code ?? error.message));
      socket.once("close", () => done("closed"));
    });
  } finally {
    socket.destroy();
    listening.close();
    await once(listening, "close");
  }
}
