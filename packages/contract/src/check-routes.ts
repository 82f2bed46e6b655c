import * as z from "zod";
import { bodyBounds, MOST_BYTES, MOST_RAW_BYTES, MOST_VALUES } from "./body-bounds.ts";
import type { Route } from "./route.ts";
import { schemasWithin } from "./schema-parts.ts";

/** Throws `TypeError` naming the first route that could not be served safely; see `contract`. */
export function checkRoutes(routes: Readonly<Record<string, Route>>): void {
  const seen = new Map<string, string>();
  for (const [id, route] of Object.entries(routes)) {
    const fail = (reason: string): never => {
      throw new TypeError(`route ${id}: ${reason}`);
    };
    if (!/^(\/(:[a-z][a-z0-9_]*|[A-Za-z0-9._~-]*))+$/.test(route.path)) fail(`path ${route.path} is malformed`);
    const key = `${route.method} ${route.path.replace(/:[a-z0-9_]+/g, ":")}`;
    const twin = seen.get(key);
    if (twin !== undefined) fail(`clashes with ${twin}`);
    seen.set(key, id);

    const inPath = [...route.path.matchAll(/:([a-z0-9_]+)/g)].map((match) => match[1] ?? "").sort();
    const inSchema = Object.keys(route.params?.shape ?? {}).sort();
    if (inPath.join() !== inSchema.join()) fail(`path parameters [${inPath}] differ from params [${inSchema}]`);
    if (route.auth !== "public" && route.action === undefined) fail("a guarded route needs an action");
    if (route.entity !== undefined) checkEntity(route, routes, fail);
    const { bytes, values } = bodyBounds(route);
    if (bytes > (route.consumes === undefined ? MOST_BYTES : MOST_RAW_BYTES) || values > MOST_VALUES)
      fail(`a body of ${bytes} bytes or ${values} values would keep the others waiting`);
    if (route.elements !== undefined && !(route.body instanceof z.ZodArray)) fail("only a body that is an array has elements");
    if (route.consumes !== undefined && route.body !== undefined) fail("consumes excludes a JSON body");
    if (route.produces !== undefined && route.reply !== undefined) fail("produces excludes a JSON reply");
    if (route.streamed === true && route.reply === undefined) fail("a streamed reply needs its schema");

    for (const part of ["query", "body"] as const) {
      const schema = route[part];
      const loose = schema === undefined ? undefined : silentObject(schema, part);
      if (loose !== undefined)
        fail(`${loose} would drop unknown fields silently: use z.strictObject, or z.looseObject on purpose`);
    }
  }
}

/** What changes an entity must name it as the one route does that reads it. */
function checkEntity(route: Route, routes: Readonly<Record<string, Route>>, fail: (reason: string) => never): void {
  const readers = Object.values(routes).filter(({ entity, method }) => entity === route.entity && method === "GET");
  const [reader] = readers;
  if (reader === undefined || readers.length > 1) fail(`entity ${route.entity} is read by ${readers.length} routes`);
  if (reader?.reply === undefined) fail(`entity ${route.entity} has no reply to take a tag of`);
  const given = Object.keys(route.params?.shape ?? {});
  const missing = Object.keys(reader?.params?.shape ?? {}).filter((name) => !given.includes(name));
  if (missing.length > 0) fail(`its path does not name the ${route.entity}: [${missing}]`);
}

/** The path of the first object in a request schema that strips unknown keys. */
function silentObject(schema: z.core.$ZodType, path: string): string | undefined {
  for (const [inner, where] of schemasWithin(schema, path)) {
    const { def } = (inner as z.core.$ZodTypes)._zod;
    if (def.type === "object" && def.catchall === undefined) return where;
  }
  return undefined;
}
