import { checkArgument } from "@seneschal/kernel";
import { columnName } from "../classification/columns/column-name.ts";
import type { Recogniser } from "../classification/search/recogniser.ts";
import { jsonTokens } from "../json-tokens.ts";

/** Where in a text that is known to be JSON a number or a literal stands that one of the stretches touches: `.card`, `[2].card`, below the one member that it has. `undefined` where none does. Names tell no value. */
export function memberAt(
  json: string,
  stretches: readonly { readonly start: number; readonly end: number }[],
  recognisers: readonly Recogniser[],
): string | undefined {
  checkArgument("json", json, "string");
  checkArgument("stretches", stretches, "array");
  const open: { readonly object: boolean; name: string; place: number }[] = [];
  for (const { kind, token, index } of jsonTokens(json)) {
    const inside = open.at(-1);
    if (kind === "open") open.push({ object: token === "{", name: "", place: 0 });
    else if (kind === "close") open.pop();
    else if (kind === "name" && inside !== undefined) inside.name = JSON.parse(token) as string;
    else if (kind === "next" && inside !== undefined) inside.place++;
    else if (
      (kind === "number" || kind === "literal") &&
      stretches.some(({ start, end }) => start < index + token.length && index < end)
    )
      return open
        .slice(1)
        .map(({ object, name, place }) => (object ? `.${columnName(name, recognisers)}` : `[${place}]`))
        .join("");
  }
  return undefined;
}
