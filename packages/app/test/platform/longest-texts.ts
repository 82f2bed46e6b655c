import { type Contract, type OpenApiInfo, openapi } from "@seneschal/contract";
import type * as z from "zod";

/** A request in which one text is as long as its schema allows, everything else as it should be. */
export interface LongestText {
  readonly route: string;
  readonly field: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** One byte and four bytes of UTF-8: bounds of texts count characters, those of stores bytes. */
const CHARACTERS = ["x", "\u{10348}"] as const;
const MOST = 1 << 16;

interface Options {
  readonly pathOf: (path: string) => string;
  /** A body that the route takes. */
  readonly bodyOf: (route: string, schema: z.ZodType) => unknown;
}

/** For every route of a contract, every text in its path and in its body, and both characters: that request. */
export function longestTexts(contract: Contract, { pathOf, bodyOf }: Options): LongestText[] {
  return Object.entries(contract).flatMap(([route, { method, path, ...parts }]) => {
    const { params, body: schema } = parts as { readonly params?: z.ZodType; readonly body?: z.ZodType };
    const good = schema === undefined ? undefined : bodyOf(route, schema);
    const names = [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name as string);
    const ids = Object.fromEntries(names.map((name) => [name, "x"]));
    return CHARACTERS.flatMap((character) => [
      ...names.flatMap((name) => {
        const text = longest(character, (value) => params?.safeParse({ ...ids, [name]: value }).success ?? true);
        if (text === undefined) return [];
        return [{ route, field: name, method, path: pathOf(path.replace(`:${name}`, encodeURIComponent(text))), body: good }];
      }),
      ...textsIn(good).flatMap((at) => {
        const text = longest(character, (value) => schema?.safeParse(withText(good, at, value)).success === true);
        if (text === undefined) return [];
        return [{ route, field: at.join("."), method, path: pathOf(path), body: withText(good, at, text) }];
      }),
    ]);
  });
}

/** The bodies that the OpenAPI document of a contract shows. */
export function shownBodies(contract: Contract, info: OpenApiInfo): (route: string) => unknown {
  const { paths } = openapi(contract, info) as unknown as {
    readonly paths: Readonly<
      Record<
        string,
        Readonly<Record<string, { readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> } }>>
      >
    >;
  };
  return (route) => {
    const { method = "", path = "" } = contract[route] ?? {};
    const { requestBody } = paths[path.replace(/:([a-z_]+)/g, "{$1}")]?.[method.toLowerCase()] ?? {};
    return requestBody?.content["application/json"]?.example;
  };
}

/** As often the character as a schema takes, or `undefined` where it takes none. */
function longest(character: string, takes: (text: string) => boolean): string | undefined {
  const at = (length: number): boolean => takes(character.repeat(length));
  if (at(MOST)) return character.repeat(MOST);
  // What has a form of its own takes none of them.
  let low = Array.from({ length: 65 }, (_, length) => length).findIndex((length) => length > 0 && at(length));
  if (low < 0) return undefined;
  for (let high = MOST; high - low > 1; ) {
    const middle: number = (low + high) >> 1;
    if (at(middle)) low = middle;
    else high = middle;
  }
  return character.repeat(low);
}

type Path = readonly (string | number)[];

function textsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value === "string") return [at];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...at, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => textsIn(item, [...at, name]));
}

function withText(value: unknown, [first, ...rest]: Path, text: string): unknown {
  if (first === undefined) return text;
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withText(item, rest, text) : item));
  return { ...(value as object), [first]: withText((value as Record<string, unknown>)[first], rest, text) };
}
