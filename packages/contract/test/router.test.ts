import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { router } from "../src/router.ts";

const segment = fc.constantFrom("a", "b", "health", ":x", ":y");
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const shape = (p: string) => p.replace(/:\w+/g, ":");

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

  test("a method decides only after the path: a wrong one lists all methods of every pattern that fits", () => {
    const match = router([
      { method: "GET", path: "/w/health", value: 1 },
      { method: "DELETE", path: "/w/:id", value: 2 },
    ]);
    expect(match("DELETE", "/w/health")).toMatchObject({ kind: "found", value: 2, params: { id: "health" } });
    expect(match("PUT", "/w/health")).toEqual({ kind: "other", allow: ["DELETE", "GET", "HEAD", "OPTIONS"] });
    expect(match("PUT", "/none")).toEqual({ kind: "none" });
  });
});
