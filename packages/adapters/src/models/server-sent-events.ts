import { CodedError } from "@seneschal/kernel";

/**
 * The data of each event of a `text/event-stream` (WHATWG HTML, section 9.2), however its bytes are cut. Names, ids and comments are left out. Throws `upstream_failed` for an event of more than
 * `limit` bytes and for what is not UTF-8; an event that the end cuts off is dropped.
 */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let data: string[] = [];
  let size = 0;
  for await (const chunk of body) {
    rest += decoded(decoder, chunk);
    for (let end = lineEnd(rest); end !== undefined; end = lineEnd(rest)) {
      const line = rest.slice(0, end.at);
      rest = rest.slice(end.next);
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
        size = 0;
      } else if (line === "data" || line.startsWith("data:")) {
        size += line.length;
        data.push(line.slice(5).replace(/^ /, ""));
      }
    }
    if (rest.length + size > limit) throw new CodedError("upstream_failed", "an event of the model's answer is too long");
  }
}

/** A carriage return at the very end may be half of a line's end. */
function lineEnd(text: string): { readonly at: number; readonly next: number } | undefined {
  const at = text.search(/[\r\n]/);
  if (at < 0 || (text[at] === "\r" && at === text.length - 1)) return undefined;
  return { at, next: text.startsWith("\r\n", at) ? at + 2 : at + 1 };
}

function decoded(decoder: TextDecoder, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new CodedError("upstream_failed", "the model's answer is not UTF-8", {}, error);
  }
}
