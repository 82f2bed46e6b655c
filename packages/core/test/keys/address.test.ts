import { requireAddress } from "@seneschal/core/keys";
import fc from "fast-check";
import { expect, test } from "vitest";

test("an address is called by the protocols that are allowed, without credentials, query or fragment, with a path where one may be, and where the network may be reached", () => {
  const part = fc.constantFrom("", "", "x");
  const url = fc.record({
    protocol: fc.constantFrom("https:", "http:", "ftp:"),
    username: part,
    password: part,
    pathname: fc.constantFrom("/", "/x"),
    search: part,
    hash: part,
  });
  const rules = fc.record({
    field: fc.constant("partner_url"),
    protocols: fc.constantFrom<readonly string[]>(["https:"], ["https:", "http:"]),
    path: fc.boolean(),
    guarded: fc.constantFrom(undefined, undefined, "not allowed"),
  });
  fc.assert(
    fc.property(url, rules, (address, asked) => {
      const { protocol, pathname, ...rest } = address;
      const plain = Object.values(rest).every((text) => text === "");
      const good = asked.protocols.includes(protocol) && plain && (asked.path || pathname === "/") && asked.guarded === undefined;
      const judge = () => requireAddress(address, asked);
      if (good) judge();
      else
        expect(judge).toThrow(
          expect.objectContaining({ code: "VALIDATION_ERROR", details: expect.objectContaining({ field: "partner_url" }) }),
        );
    }),
  );
});
