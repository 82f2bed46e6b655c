import { openapi } from "@seneschal/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { SERVICE_NAMES, serviceContract } from "../service-contracts.ts";

const services = await Promise.all(SERVICE_NAMES.map(async (name) => [name, await serviceContract(name)] as const));

describe.each(services)("the OpenAPI document of %s", (_, service) => {
  test.each(["3.1", "3.0"] as const)("is valid OpenAPI %s and holds every route", async (form) => {
    const { contract, ...info } = service ?? { contract: {}, title: "", errors: undefined as never };
    const document = openapi(contract, { ...info, version: "1.0.0", form });
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(document)));
    expect(validator.version).toBe(form);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const ids = Object.values(document["paths"] as object).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids.sort()).toEqual(Object.keys(contract).sort());
  });
});
