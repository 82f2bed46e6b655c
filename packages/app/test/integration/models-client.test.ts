import { expect, test } from "vitest";
import { servers, startRig } from "../governance/rig.ts";
import { cut, echo, startStubModel, stream, textsOf } from "../governance/stub-model.ts";

const TEXT = "Dear Ms Okafor, your card 4111 1111 1111 1111 was charged; write to ada@example.org.";

const openai = await import("openai").catch(() => undefined);

test.skipIf(openai === undefined)(
  "OpenAI's own client asks, streams, embeds and lists, and reads refusals as its errors",
  async () => {
    const OpenAI = (openai as NonNullable<typeof openai>).default;
    const model = await startStubModel();
    const rig = await startRig(servers[0]?.[1] as never, { settings: { models: { upstream: model.url } } });
    const client = new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: "key-of-admin", maxRetries: 0 });
    const asked = { model: "stub-1", messages: [{ role: "user", content: TEXT }] } as const;
    const create = (more: object = {}) => client.chat.completions.create({ ...asked, messages: [...asked.messages], ...more });

    expect((await create()).choices[0]?.message.content).toBe(TEXT);
    model.answer(({ path, body }, response) => stream(path, cut(textsOf(body), 3), response, 11));
    const streamed = await client.chat.completions.create({ ...asked, messages: [...asked.messages], stream: true });
    let said = "";
    for await (const { choices } of streamed) said += choices[0]?.delta.content ?? "";
    expect(said).toBe(TEXT);
    model.answer(echo);
    const { data } = await client.embeddings.create({ model: "stub-1", input: TEXT, encoding_format: "float" });
    expect(data[0]?.embedding).toEqual([0.5, -0.25]);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["stub-1"]);
    expect(model.told.map(({ text }) => text).join()).not.toMatch(/4111|ada@|Okafor/);
    await expect(create({ logprobs: true })).rejects.toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    const foreign = new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: "key-of-judge", maxRetries: 0 });
    await expect(foreign.models.list()).rejects.toMatchObject({ status: 403, code: "FORBIDDEN" });
    await rig.stop();
    await model.close();
  },
);
