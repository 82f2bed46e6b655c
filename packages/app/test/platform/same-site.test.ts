import { type Contract, dispatcher, endpoints, type Handlers, type Incoming, otherSite } from "@seneschal/contract";
import { sampleErrors, unwatched } from "@seneschal/contract/testing";
import { describe, expect, test } from "vitest";
import { SERVICE_NAMES, serviceContract } from "../../../../tools/service-contracts.ts";

const ada = { id: "ada", type: "user", org: "o", roles: [], scopes: [], method: "mtls" };
const peer = { der: new Uint8Array(), authorized: true, resumed: false };

/** Credentials that a browser adds to what a page of any site makes it send. */
const ambient: readonly (readonly [string, Partial<Incoming>])[] = [
  ["a client certificate", { peer }],
  ["a cookie", { headers: { cookie: "session=1" } }],
];
const foreign: readonly Readonly<Record<string, string>>[] = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site", origin: "https://node.example:8443" },
  { origin: "https://evil.example" },
  { origin: "https://node.example" },
  { origin: "null" },
  { origin: "https://node.example:8443@evil.example" },
  // Each is heeded, whatever the other says.
  { "sec-fetch-site": "none", origin: "https://evil.example" },
  { "sec-fetch-site": "none", origin: "null" },
  { "sec-fetch-site": "same-origin", origin: "https://evil.example" },
  { "sec-fetch-site": "same-origin", origin: "https://node.example" },
  // A page that nothing protects is another site's in whoever's hands the line is.
  { origin: "http://node.example:8443" },
  { "sec-fetch-site": "none", origin: "http://node.example:8443" },
  { origin: "ftp://node.example:8443" },
];
const own: readonly Readonly<Record<string, string>>[] = [
  {},
  { "sec-fetch-site": "same-origin", origin: "https://node.example:8443" },
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "none", origin: "https://node.example:8443" },
  // Of a page with `Referrer-Policy: no-referrer` (Fetch, "append a request `Origin` header").
  { "sec-fetch-site": "same-origin", origin: "null" },
  { origin: "https://NODE.example:8443" },
];

/** Whatever route is called, its name is in `reached`: all that a handler could do happens. */
async function watch(name: (typeof SERVICE_NAMES)[number]) {
  const found = await serviceContract(name);
  if (found === undefined) throw new Error(name);
  const reached: string[] = [];
  const hooks = {
    ...unwatched,
    errors: sampleErrors,
    now: () => 0,
    requestId: () => "r",
    authenticate: () => ada,
    // The last step before the request itself is looked at.
    authorise: ({ id }: { readonly id: string }) => void reached.push(id),
  };
  const contract: Contract = found.contract;
  const handlers = Object.fromEntries(Object.keys(contract).map((id) => [id, () => undefined])) as unknown as Handlers<
    Contract,
    undefined
  >;
  const dispatch = dispatcher(endpoints(contract, handlers, undefined, hooks), hooks);
  const ask = async (id: string, more: Partial<Incoming>): Promise<number> => {
    const { method, path } = contract[id]!;
    const { headers, ...rest } = more;
    const { status } = await dispatch({
      method,
      target: path.replace(/:[a-z0-9_]+/g, "x"),
      remoteAddress: "::1",
      body: new Uint8Array(),
      headers: { host: "node.example:8443", ...headers },
      secure: true,
      ...rest,
    });
    return status;
  };
  return { contract, reached, ask };
}

test("where a proxy ends TLS, its pages are its own", () => {
  for (const origin of ["https://node.example", "http://node.example"])
    expect(otherSite({ headers: { host: "node.example", origin } })).toBeUndefined();
});

describe.each(SERVICE_NAMES)("%s", (name) => {
  test("no route that changes anything acts on what another site made a browser send", async () => {
    const { contract, reached, ask } = await watch(name);
    const changing = Object.entries(contract).filter(([, route]) => route.method !== "GET" || route.changesOnRead === true);
    expect(changing.length).toBeGreaterThan(0);
    for (const [id] of changing)
      for (const [credential, more] of ambient)
        for (const headers of foreign)
          expect([id, credential, headers, await ask(id, { ...more, headers: { ...more.headers, ...headers } })]).toEqual([
            ...[id, credential, headers],
            403,
          ]);
    expect(reached).toEqual([]);
  });

  test("the service's own pages, programs, and credentials that no browser adds by itself go on", async () => {
    const { contract, reached, ask } = await watch(name);
    const guarded = Object.entries(contract).filter(([, route]) => route.auth !== "public" && route.method !== "GET");
    for (const [id] of guarded) {
      for (const headers of own)
        for (const [, more] of ambient) await ask(id, { ...more, headers: { ...more.headers, ...headers } });
      for (const headers of foreign) await ask(id, { headers: { ...headers, authorization: "Bearer token" } });
      expect(reached.splice(0)).toEqual(Array.from({ length: own.length * ambient.length + foreign.length }, () => id));
    }
  });
});
