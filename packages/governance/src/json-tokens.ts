import { checkArgument } from "@seneschal/kernel";

/** A piece of JSON, as it is written. `open` and `close`: of an object, or of a list. */
export interface JsonToken {
  readonly kind: "open" | "close" | "name" | "text" | "number" | "literal" | "next";
  readonly token: string;
  readonly index: number;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],]/g;

/** The pieces of a text that is known to be JSON, in their order; what stands between them is blank or a colon. `next`: what follows is the next member or element. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  checkArgument("text", text, "string");
  /** Of what is open from the outermost on, whether it is an object. */
  const open: boolean[] = [];
  let isName = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      isName = token === "{";
      open.push(isName);
      yield { kind: "open", token, index };
    } else if (token === "}" || token === "]") {
      isName = false;
      open.pop();
      yield { kind: "close", token, index };
    } else if (token === ",") {
      isName = open.at(-1) === true;
      yield { kind: "next", token, index };
    } else {
      const isText = token.startsWith('"');
      const kind = isText && isName ? "name" : isText ? "text" : /^[-\d]/.test(token) ? "number" : "literal";
      isName = false;
      yield { kind, token, index };
    }
  }
}
