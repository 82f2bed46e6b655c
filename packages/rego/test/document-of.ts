import type { EvaluateOptions } from "@seneschal/rego";
import { bothWays } from "./both-ways.ts";

/** The document `data.t.p` of a module without its package line; the code of an error. */
export function documentOf(module: string, input?: unknown, options: EvaluateOptions = {}): unknown {
  const result = bothWays([{ name: "t.rego", source: `package t\n\n${module}\n` }], "data.t.p", input, options);
  return result.kind === "defined" ? result.value : result.kind === "undefined" ? undefined : result.code;
}

/** The value of an expression, integers and fractions with all their digits as text. */
export function textOf(expression: string): unknown {
  return documentOf(`p := json.marshal(${expression})`);
}
