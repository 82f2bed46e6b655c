import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { router } from "../src/router.ts";

const segment = fc.constantFrom("a", "b", "health", ":x", ":y");
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const shape = (p: string) => p.replace(/:\w+/g, ":");
const named = (p: string) => p.replace(/:/g, ":x");

/** The obvious reference: try every route, keep those that fit, take the one whose first difference is static. */
function slow(routes: readonly string[], asked: string): string | undefined {
  const parts = asked.split("/").slice(1);
  const fits = routes.filter((route) => {
    const own = route.split("/").slice(1);
    return own.length === parts.length && own.every((s, i) => s === parts[i] || (s.startsWith(":") && parts[i] !== ""));
  });
  const rank = (route: string) =>
    route
      .split("/")
      .map((s) => (s.startsWith(":") ? "1" : "0"))
      .join("");
  return fits.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

describe("the router", () => {
  test("agrees with trying every route, static segments first, whatever the order", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 12, selector: shape }),
        fc.array(fc.constantFrom("a", "b", "health", "z", ""), { minLength: 1, maxLength: 4 }),
        (routes, asked) => {
          const match = router(routes.map((route) => ({ method: "GET", path: route, value: route })));
          const target = `/${asked.join("/")}`;
          const found = match("GET", target);
          expect(found.kind === "found" ? found.value : undefined).toBe(slow(routes, target));
          if (found.kind !== "found") return;
          const filled = found.value.replace(/:(\w+)/g, (_, name: string) => found.params[name] ?? "?");
          if (new Set(found.value.match(/:\w+/g)).size === (found.value.match(/:\w+/g) ?? []).length) expect(filled).toBe(target);
        },
      ),
    );
  });

  test("a method decides only after the path: the methods are those of the pattern that a GET would find, never of a sibling's", () => {
    const match = router([
      { method: "GET", path: "/w/health", value: 1 },
      { method: "DELETE", path: "/w/:id", value: 2 },
      { method: "PUT", path: "/w/:id", value: 3 },
    ]);
    const other = { kind: "other", allow: ["GET", "HEAD", "OPTIONS"] };
    expect(match("DELETE", "/w/health")).toEqual(other);
    expect(match("PUT", "/w/health")).toEqual(other);
    expect(match("PATCH", "/w/a")).toEqual({ kind: "other", allow: ["DELETE", "OPTIONS", "PUT"] });
    expect(match("PUT", "/w/a")).toMatchObject({ kind: "found", value: 3, params: { id: "a" } });
    expect(match("PUT", "/none")).toEqual({ kind: "none" });
  });

  test("whatever the methods, a path means one pattern: each of its methods is found, every other is answered with them", () => {
    const methods = ["DELETE", "POST", "PUT"] as const;
    const route = fc.record({ method: fc.constantFrom(...methods), path });
    fc.assert(
      fc.property(
        fc.uniqueArray(route, { maxLength: 12, selector: (r) => `${r.method} ${shape(r.path)}` }),
        fc.array(fc.constantFrom("a", "b", "health", "z"), { minLength: 1, maxLength: 4 }),
        (routes, asked) => {
          const match = router(routes.map((r) => ({ ...r, value: shape(r.path) })));
          const target = `/${asked.join("/")}`;
          const meant = slow([...new Set(routes.map((r) => shape(r.path)))].map(named), target);
          const own = routes.filter((r) => meant !== undefined && shape(r.path) === shape(meant)).map((r) => r.method as string);
          for (const method of [...methods, "PATCH"]) {
            const found = match(method, target);
            if (own.length === 0) expect(found).toEqual({ kind: "none" });
            else if (own.includes(method)) expect(found).toMatchObject({ kind: "found", value: shape(meant as string) });
            else expect(found).toEqual({ kind: "other", allow: [...own, "OPTIONS"].sort() });
          }
        },
      ),
    );
  });
});
