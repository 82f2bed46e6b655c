/** What a page does with the typed client; bundled for a browser by the test beside it. */
import { client } from "@seneschal/contract";
import { sampleContract } from "@seneschal/contract/testing";
import { isCoded } from "@seneschal/kernel";

async function tryClient(baseUrl: string): Promise<object> {
  const api = client(sampleContract, { baseUrl, fetch: fetch.bind(globalThis), headers: { authorization: "Bearer good" } });
  const failure = await api.fail({ params: { how: "conflict" } }).catch((error: unknown) => error);
  return {
    widget: await api.getWidget({ params: { id: "a/b c" } }),
    created: await api.createWidget({ body: { name: "nut", tags: ["a"] } }),
    bytes: new TextDecoder().decode((await api.file()).bytes),
    failure: isCoded(failure) ? [failure.code, failure.details["status"]] : [],
  };
}

Object.assign(globalThis, { tryClient });
