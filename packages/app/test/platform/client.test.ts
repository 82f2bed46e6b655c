import { client, type RunningServer, type Serve } from "@seneschal/contract";
import { sampleContract, sampleService } from "@seneschal/contract/testing";
import * as express from "@seneschal/server-express";
import * as fastify from "@seneschal/server-fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

describe.each<[string, Serve]>([
  ["Express", express.serve],
  ["Fastify", fastify.serve],
])("the typed client against %s", (_, serve) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve(sampleService(), { port: 0 });
  });
  afterAll(() => server.close());
  const api = (token = "good") =>
    client(sampleContract, { baseUrl: server.url, fetch, headers: () => ({ authorization: `Bearer ${token}` }) });

  test("parameters, query lists, numbers and bodies arrive", async () => {
    expect(await api().getWidget({ params: { id: "a/b c" } })).toEqual({ id: "a/b c", name: "bolt" });
    const echoed = await api().echo({ params: { value: "ü" }, query: { n: 7, list: ["a&b", "c d"], "a[b]": "x" } });
    expect(echoed).toEqual({ value: "ü", n: 7, list: ["a&b", "c d"], flat: "x" });
    expect(await api().createWidget({ body: { name: "nut", tags: ["a"] } })).toEqual({ id: "w1", name: "nut" });
    expect(await api().touch()).toEqual({ note: null });
    expect(await api().upload({ bytes: new Uint8Array([1, 2, 3]) })).toEqual({ bytes: 3 });
    expect(await api().removeWidget({ params: { id: "w1" } })).toBeUndefined();
  });

  test("what is not JSON comes as bytes", async () => {
    const { bytes, mediaType, filename } = await api().file();
    expect([Buffer.from(bytes).toString(), mediaType, filename]).toEqual(["a,b\n", "text/csv", "gr__e _1_.csv"]);
  });

  test("a failure is a coded error with its details, status and request id", async () => {
    await expect(api().fail({ params: { how: "conflict" } })).rejects.toMatchObject({
      name: "CodedError",
      code: "CONFLICT",
      message: "already there",
      details: { id: "w1", status: 409, request_id: "generated-id" },
    });
    await expect(api("wrong").getWidget({ params: { id: "x" } })).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(api().createWidget({ body: { name: "" } })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { issues: [{ path: "body.name" }] },
    });
  });

  test("an empty path parameter is not sent: it would be another path", async () => {
    await expect(api().getWidget({ params: { id: "" } })).rejects.toThrow(TypeError);
  });

  test("an answer that is not the service's is named so", async () => {
    const odd = client(sampleContract, { baseUrl: `${server.url}/text?`, fetch });
    await expect(odd.widgetHealth()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const html = client(sampleContract, { baseUrl: "", fetch: async () => new Response("<h1>502</h1>", { status: 502 }) });
    await expect(html.widgetHealth()).rejects.toMatchObject({ code: "client_protocol", details: { status: 502 } });
    const wrong = client(sampleContract, { baseUrl: "", fetch: async () => Response.json({ ok: "yes" }) });
    await expect(wrong.widgetHealth()).rejects.toMatchObject({
      code: "client_protocol",
      details: { where: ["ok: invalid_type"] },
    });
    const newer = client(sampleContract, { baseUrl: "", fetch: async () => Response.json({ ok: true, since: 1 }) });
    expect(await newer.widgetHealth()).toMatchObject({ ok: true });
  });
});
