import { checkArgument } from "../argument.ts";
import type { Source } from "./ast.ts";
import { scan } from "./scan.ts";

/**
 * The same module below a name of its own: its package and every `data` it reads move to `data.<name>`. So policies that
 * know nothing of each other can share one document tree, such as an OPA server's. Throws on text that has no tokens.
 *
 * @example
 * ```ts
 * import { mountModule } from "@seneschal/rego";
 * const { source } = mountModule({ name: "p.rego", source: "package p\n\nx := data.y\n" }, "tenant1");
 * console.log(source); // package tenant1.p\n\nx := data.tenant1.y\n
 * ```
 */
export function mountModule(given: Source, below: string): Source {
  checkArgument("given", given, "object");
  checkArgument("below", below, "string");
  const { name, source } = given;
  const { tokens } = scan(source);
  const edits: (readonly [number, string])[] = [];
  tokens.forEach((token, i) => {
    const previous = tokens[i - 1];
    if (previous?.kind === "package" && i === 1) edits.push([token.start, `${below}.`]);
    else if (token.kind === "ident" && token.text === "data" && !(previous?.kind === "." && !token.spaced)) {
      edits.push([token.end, `.${below}`]);
    }
  });
  let out = "";
  let from = 0;
  for (const [at, text] of edits) {
    out += source.slice(from, at) + text;
    from = at;
  }
  return { name, source: out + source.slice(from) };
}
