import { openapi } from "@seneschal/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { SERVICE_NAMES, serviceContract } from "../service-contracts.ts";

const services = await Promise.all(SERVICE_NAMES.map(async (name) => [name, await serviceContract(name)] as const));

describe.each(services)("the OpenAPI document of %s", (_, service) => {
  test.skipIf(service === undefined)("is valid OpenAPI 3.1 and holds every route", async () => {
    const { contract, ...info } = service ?? { contract: {}, title: "", errors: undefined as never };
    const document = openapi(contract, { ...info, version: "1.0.0" });
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const ids = Object.values(document["paths"] as object).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids.sort()).toEqual(Object.keys(contract).sort());
  });
});
