import { type AddressInfo, createServer, type Socket } from "node:net";
import type { NfsServer, NfsServerOptions } from "@seneschal/core/storage";
import { checkOptions } from "@seneschal/kernel";
import { answerCall, type CallServices } from "./answer-call.ts";
import { createReplayCache } from "./replay-cache.ts";
import { createRecordReader, frameRecord } from "./rpc/records.ts";

/** A call with the most bytes of a WRITE, and its head. */
const maxRecord = (1 << 20) + 4096;
/** Calls of one connection that are answered at a time, and their bytes; what comes after them waits in the network. */
const maxCalls = 32;
const maxCallBytes = 4 << 20;

/**
 * Serves NFSv3 and MOUNT over TCP on one port: clients name it (`port=`, `mountport=`), there is no portmapper. A client is believed who
 * its users are (AUTH_SYS): what that opens is the file service's to say. A connection that sends no records is closed.
 */
export async function serveNfs(options: NfsServerOptions): Promise<NfsServer> {
  checkOptions("options", options, {
    files: "object",
    host: "string",
    port: "number",
    maxConnections: "number",
    idleTimeoutMs: "number",
    onCall: "function?",
    onFailure: "function?",
    onConnection: "function?",
  });
  const services: CallServices = { ...options, replays: createReplayCache() };
  const sockets = new Set<Socket>();
  const running = new Set<Promise<unknown>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    options.onConnection?.(1, { received: 0, sent: 0 });
    socket.on("close", () => {
      sockets.delete(socket);
      options.onConnection?.(-1, { received: socket.bytesRead, sent: socket.bytesWritten });
    });
    serveConnection(socket, services, options.idleTimeoutMs, running);
  });
  server.maxConnections = options.maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.pause();
      await Promise.allSettled(running);
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

function serveConnection(socket: Socket, services: CallServices, idleMs: number, running: Set<Promise<unknown>>): void {
  const records = createRecordReader(maxRecord);
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  let calls = 0;
  let bytes = 0;
  let stalled: NodeJS.Timeout | undefined;
  /** Ends a connection whose call stays half sent, or whose replies are not taken; one that is silent between calls stays. */
  const watch = (): void => {
    clearTimeout(stalled);
    const waits = records.pending > 0 || socket.writableNeedDrain;
    stalled = waits ? setTimeout(() => socket.destroy(), idleMs).unref() : undefined;
  };
  const pace = (): void => {
    const full = calls >= maxCalls || bytes >= maxCallBytes || socket.writableNeedDrain;
    if (full) socket.pause();
    else socket.resume();
  };
  const answer = async (record: Uint8Array): Promise<void> => {
    const reply = await answerCall(services, address, record);
    if (socket.destroyed) return;
    socket.cork();
    for (const piece of frameRecord(reply)) socket.write(piece);
    socket.uncork();
  };
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  socket.on("error", () => undefined);
  socket.on("drain", () => {
    watch();
    pace();
  });
  socket.on("close", () => clearTimeout(stalled));
  socket.on("data", (piece: Buffer) => {
    let complete: readonly Uint8Array[];
    try {
      complete = records.push(piece);
    } catch {
      socket.destroy();
      return;
    }
    for (const record of complete) {
      calls += 1;
      bytes += record.length;
      const call = answer(record)
        // A record that is no call has nobody who waits for an answer.
        .catch(() => socket.destroy())
        .finally(() => {
          running.delete(call);
          calls -= 1;
          bytes -= record.length;
          watch();
          pace();
        });
      running.add(call);
    }
    watch();
    pace();
  });
}
