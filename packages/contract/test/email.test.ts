import { describe, expect, test } from "vitest";
import { email } from "../src/gateway/shapes.ts";

describe("an e-mail address", () => {
  test.each([
    ["ada@acme.example", true],
    [`${"a".repeat(64)}@acme.example`, true],
    [`${"a".repeat(65)}@acme.example`, false],
    [`ada@${"a.".repeat(130)}example`, false],
    ["ada", false],
  ])("%s: %s, by the lengths of RFC 5321", (address, good) => {
    expect(email.safeParse(address).success).toBe(good);
  });
});
