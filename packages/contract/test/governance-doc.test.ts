import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { governanceContract } from "../src/governance/index.ts";
import type { Route } from "../src/route.ts";

/** The members of a query or a body; none where it is no plain object. */
const members = (schema: unknown): readonly string[] =>
  Object.keys((schema as { readonly shape?: Readonly<Record<string, unknown>> } | undefined)?.shape ?? {});
const bare = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

const routes: readonly Route[] = Object.values(governanceContract);
const routeOf = (method: string, path: string): Route | undefined =>
  routes.find((route) => route.method === method && route.path === bare(path));

describe("docs/governance.md", () => {
  let page = "";
  beforeAll(async () => {
    page = await readFile(new URL("../../../docs/governance.md", import.meta.url), "utf8");
  });

  test("shows of each route in its table the parameters that the route has, and no other", () => {
    const table = /## Paths that the interface leaves open\n([\s\S]*?)\n## /.exec(page)?.[1] ?? "";
    const shown = [...table.matchAll(/`([A-Z, ]+) (\/api[^`?]*)(?:\?([^`]*))?`/g)].map(
      ([, methods = "", path = "", query = ""]) => ({
        methods: methods.split(", "),
        path,
        parameters: query === "" ? [] : query.split("&").map((each) => each.split("=")[0] ?? ""),
      }),
    );
    expect(shown.length).toBeGreaterThan(30);
    const wrong = shown.flatMap(({ methods, path, parameters }) => {
      const known = methods.map((method) => routeOf(method, path));
      if (known.includes(undefined)) return [`${methods.join()} ${path} is no route`];
      const own = [...new Set(known.flatMap((route) => members(route?.query)))];
      return own.sort().join() === [...parameters].sort().join() ? [] : [`${path}: ${parameters.join()} for ${own.join()}`];
    });
    expect(wrong).toEqual([]);
  });

  test("shows of a body no member that its route does not take", () => {
    const bodies = [...page.matchAll(/`(POST|PUT) (\/api[^`?]*)`(?: \([^)]*\))? `\{([\w, ]+)\}`/g)];
    expect(bodies.length).toBeGreaterThan(3);
    const wrong = bodies.flatMap(([, method = "", path = "", list = ""]) => {
      const own = members(routeOf(method, path)?.body);
      return list
        .split(", ")
        .filter((name) => !own.includes(name))
        .map((name) => `${path}: ${name}`);
    });
    expect(wrong).toEqual([]);
    const decision = /`POST \.\.\.\/decision` `\{([^}]*)\}`/.exec(page)?.[1]?.split(", ");
    expect(decision?.sort()).toEqual([...members(routeOf("POST", "/api/v1/approvals/{id}/decision")?.body)].sort());
  });
});
