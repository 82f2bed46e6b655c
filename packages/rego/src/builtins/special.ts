import { EvaluationError } from "../errors.ts";
import { termText } from "../value/format.ts";
import type { RegoSet, Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { checkRequest } from "./http-request.ts";

/** Handled by the compiler itself, or here only to be replaced by `with`. */
export const specialBuiltins: readonly Builtin[] = [
  define("walk", "any -> [[any], any]", () => undefined),
  define("print", "[any] -> boolean", ([parts], context) => {
    if (context.print === undefined) return true;
    let lines: readonly string[] = [""];
    (parts as readonly RegoSet[]).forEach((part, i) => {
      const texts = part.sorted().map((v) => (typeof v === "string" ? v : termText(v)));
      const choices = texts.length === 0 ? ["<undefined>"] : texts;
      lines = lines.flatMap((line) => choices.map((text) => (i === 0 ? text : `${line} ${text}`)));
    });
    for (const line of lines) context.print(line);
    return true;
  }),
  define("internal.test_case", "[any] -> boolean", ([keys], context) => {
    context.testCase?.(keys as Value);
    return true;
  }),
  define("opa.runtime", "-> {string: any}", () => ({})),
  define("http.send", "{string: any} -> {any: any}", ([request]) => {
    checkRequest(request as Value);
    throw new EvaluationError("eval_builtin_error", "http.send: the engine does no I/O");
  }),
];
