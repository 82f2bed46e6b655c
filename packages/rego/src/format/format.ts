import { checkArgument, checkOptions } from "../argument.ts";
import type { Problem } from "../errors.ts";
import type { Source } from "../syntax/ast.ts";
import { Extents } from "../syntax/extents.ts";
import { parseModuleWith } from "../syntax/parse-module.ts";
import { refusedByV1 } from "./accepted.ts";
import { sameMeaning } from "./same-meaning.ts";
import { writeModule } from "./write-module.ts";

export interface FormatOptions {
  /** `v1` writes a `v0` source as one that v0 and v1 read alike: `if`, `contains`, `:=` and `import rego.v1`. */
  readonly to?: "v1";
  /** Leaves out imports that v1 does not need: `rego.v1` and `future.keywords`. */
  readonly dropV0Imports?: boolean;
}

/** Runs until the text is stable; a module that needs more is left as it is. */
const MAX_ROUNDS = 4;

/**
 * Writes a module in the layout of `opa fmt`, run until it changes nothing. Comments are kept, and so is the meaning: a module that the
 * layout would change, or rob of a comment, is returned as it is. `text` is undefined if the source has problems, and for a v0 source that v1
 * would refuse: by deprecated builtins, for example.
 *
 * @example
 * ```ts
 * import { format } from "@seneschal/rego";
 * const { text } = format({ name: "p.rego", source: "package p\nallow   if {input.admin}\n" });
 * console.log(text); // package p\n\nallow if input.admin\n
 * ```
 */
export function format(
  source: Source,
  options: FormatOptions = {},
): { readonly text: string | undefined; readonly problems: readonly Problem[] } {
  checkOptions("options", options, { to: "string?", dropV0Imports: "boolean?" });
  checkArgument("source", source, "object");
  const dropV0Imports = options.dropV0Imports === true;
  let written = source.version ?? "v1";
  const to = options.to ?? written;
  const converted = written !== to;
  let extents = new Extents();
  let { module, problems } = parseModuleWith(source, extents);
  let text: string | undefined;
  for (let round = 0; round < MAX_ROUNDS && module !== undefined; round++) {
    const next = writeModule(module, extents, { written, to, dropV0Imports });
    if (next === text) {
      const refused = converted ? refusedByV1(source, text) : [];
      return refused.length > 0 ? { text: undefined, problems: refused } : { text, problems };
    }
    written = to;
    extents = new Extents();
    const again = parseModuleWith({ name: source.name, source: next, version: to }, extents);
    problems = again.problems;
    const same: boolean = again.module !== undefined && sameMeaning(module, again.module);
    module = same ? again.module : undefined;
    text = next;
  }
  if (text === undefined) return { text, problems };
  if (!converted) return { text: source.source, problems: [] };
  // what no layout can mend, such as a keyword of v1 as the name of a rule
  const unchanged = {
    code: "rego_parse_error",
    message: "v1 has no text of the same meaning",
    file: source.name,
    row: 1,
    col: 1,
  } as const;
  return { text: undefined, problems: problems.length > 0 ? problems : [unchanged] };
}
