import { type LogRecord, wholeLog } from "@seneschal/crypto/audit-log";
import type { DocumentStore } from "@seneschal/kernel/ports";

/** So many records are read and hashed at once: requests wait for no more than that. */
const PAGE = 250;

/** The records of one stream in order, or of the whole log, page by page, from a number on. */
export async function* recordsInOrder<R extends Pick<LogRecord, "seq" | "stream" | "stream_seq"> = LogRecord>(
  store: DocumentStore,
  stream: string,
  from = 1,
): AsyncGenerator<readonly R[]> {
  let cursor: string | undefined;
  const [index, prefix] = stream === wholeLog ? ["seq", []] : ["stream", [stream]];
  do {
    const page = await store.list("audit", index as string, prefix as string[], {
      limit: PAGE,
      from: [from],
      ...(cursor === undefined ? {} : { cursor }),
    });
    yield page.items.map(({ doc }) => doc as unknown as R);
    cursor = page.cursor;
  } while (cursor !== undefined);
}
