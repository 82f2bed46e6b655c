import type { Payload, RequestFacts } from "@seneschal/contract";

/** A stream holds at most this many unread messages; a reader that is slower is cut off and may come back. */
const MAX_UNREAD = 1000;

/** What feeds a stream: called with `send` and `end`, returns how to stop feeding. */
export type Source = (send: (message: unknown) => void, end: () => void) => () => void;

/** Server-sent events (HTML standard, section 9.2), one JSON message per `data:` line. */
export function eventStream(source: Source, request: RequestFacts): Payload {
  const unread: Uint8Array[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  const end = (): void => {
    ended = true;
    wake?.();
  };
  const send = (message: unknown): void => {
    if (ended) return;
    unread.push(Buffer.from(`data: ${JSON.stringify(message)}\n\n`));
    if (unread.length > MAX_UNREAD) end();
    wake?.();
  };
  const stop = source(send, end);
  request.onClose?.(end);

  async function* body(): AsyncIterable<Uint8Array> {
    try {
      yield Buffer.from(": open\n\n");
      for (;;) {
        const next = unread.shift();
        if (next !== undefined) yield next;
        else if (ended) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      stop();
    }
  }
  return { mediaType: "text/event-stream", headers: { "cache-control": "no-store", "x-accel-buffering": "no" }, body: body() };
}
