import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientAddress, isCidr } from "../../src/platform/client-address.ts";

describe("where a request comes from", () => {
  const addressOf = clientAddress(["10.0.0.0/8", "fd00::/8", "192.0.2.1"]);

  test.each([
    ["192.0.2.9", "10.0.0.1", "192.0.2.9"],
    ["10.0.0.1", "192.0.2.7", "192.0.2.7"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.7", "192.0.2.7"],
    ["10.0.0.1", "6.6.6.6, 192.0.2.7, 10.3.3.3", "192.0.2.7"],
    ["::ffff:10.0.0.1", "2001:db8::1", "2001:db8::1"],
    ["fd00::1", "192.0.2.1, 192.0.2.1", "192.0.2.1"],
    ["10.0.0.1", "10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"],
    ["10.0.0.1", "6.6.6.6, 10.0.0.2:80, 10.0.0.3", "10.0.0.3"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
  ])("%s that forwards for %s is %s", (peer, forwarded, client) => {
    expect(addressOf(peer, forwarded)).toBe(client);
  });

  test("without trusted proxies nobody's word counts", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.array(fc.ipV4()), (peer, hops) => {
        expect(clientAddress([])(peer, hops.join(", "))).toBe(peer);
      }),
    );
  });

  test("what a client puts in front of the chain changes nothing", () => {
    const outside = fc.ipV4().filter((address) => !address.startsWith("10.") && address !== "192.0.2.1");
    fc.assert(
      fc.property(outside, fc.array(fc.oneof(fc.ipV4(), fc.string())), (client, claims) => {
        expect(addressOf("10.0.0.1", [...claims, client].join(", "))).toBe(client);
      }),
    );
  });

  test.each([
    ["10.0.0.0/8", true],
    ["::1", true],
    ["10.0.0.0/33", false],
    ["proxy.example", false],
    ["1", false],
  ])("%s as a range: %s", (text, good) => {
    expect(isCidr(text)).toBe(good);
  });
});
