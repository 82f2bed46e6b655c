import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { mtlsFetch, targetGuard } from "../../src/http/index.ts";

describe("the guard of outgoing calls", () => {
  const closed = targetGuard([]);

  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://10.1.2.3:8200/",
    "https://172.31.255.255/",
    "https://192.168.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[::ffff:0:127.0.0.1]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[5f00::1]/",
    "https://[3fff::1]/",
    "https://[4000::1]/",
    "https://[2001:db8::1]/",
    "https://[2002:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://x.localhost/",
  ])("refuses %s", (url) => {
    expect(closed.refusal(new URL(url))).toBe("a private address must be allowed by the configuration");
  });

  it.each(["https://vault.example.org/", "https://8.8.8.8/", "https://172.32.0.1/", "https://[2606:4700::1111]/"])(
    "lets %s pass",
    (url) => expect(closed.refusal(new URL(url))).toBeUndefined(),
  );

  it("takes a name for itself in every form that a URL has for it", () => {
    const forms = (name: string) => [
      name,
      name.toUpperCase(),
      `${name}.`,
      `${name.toUpperCase()}.`,
      `${name}%2E`,
      `${name}\u3002`,
      `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
      [...name].map((c) => (c === "." ? "\uff0e" : String.fromCharCode(c.charCodeAt(0) + 0xfee0))).join(""),
    ];
    const open = targetGuard(["Vault.Localhost.", "inside.localhost"]);
    for (const name of ["localhost", "x.localhost", "127.0.0.1"])
      for (const form of forms(name)) {
        expect(closed.refusal(new URL(`http://${form}/`)), form).toBeDefined();
        expect(open.refusal(new URL(`http://${form}/`)), form).toBeDefined();
      }
    for (const name of ["vault.localhost", "inside.localhost"])
      for (const form of forms(name)) expect(open.refusal(new URL(`http://${form}/`)), form).toBeUndefined();
  });

  it("opens exactly what the configuration names", () => {
    const open = targetGuard(["10.0.0.0/8", "192.168.1.7", "vault.internal", "fd00::/8"]);
    for (const url of ["https://10.9.9.9/", "https://192.168.1.7/", "https://vault.internal/", "https://[fd00::5]/"]) {
      expect(open.refusal(new URL(url)), url).toBeUndefined();
    }
    expect(open.refusal(new URL("https://192.168.1.8/"))).toBeDefined();
  });

  it("judges what a name resolves to when the connection is made", async () => {
    const server = createServer((_request, response) => response.end("in"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    const refused = mtlsFetch({ lookup: closed.lookup });
    const allowed = mtlsFetch({ lookup: targetGuard(["127.0.0.0/8", "::1"]).lookup });
    try {
      await expect(refused.fetch(url)).rejects.toThrow();
      expect(await (await allowed.fetch(url)).text()).toBe("in");
    } finally {
      await refused.close();
      await allowed.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
