import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { base64 } from "../src/gateway/shapes.ts";

test("base64 accepts what its published pattern says, from the least to the most bytes", () => {
  const text = fc.oneof(
    fc.base64String({ maxLength: 16 }).map((padded) => padded.replace(/=+$/, "")),
    fc.base64String({ maxLength: 16 }),
    fc.string({ unit: fc.constantFrom("A", "/", "+", "z", "=", "-", " "), maxLength: 12 }),
  );
  fc.assert(
    fc.property(text, (sent) => {
      const schema = base64(2, 9);
      const { pattern } = z.toJSONSchema(schema) as { pattern: string };
      const bytes = Buffer.from(sent, "base64").length;
      expect(schema.safeParse(sent).success).toBe(new RegExp(pattern).test(sent) && bytes >= 2 && bytes <= 9);
    }),
  );
});
