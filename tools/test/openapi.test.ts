import { type Contract, type ErrorTable, openapi } from "@seneschal/contract";
import * as gateway from "@seneschal/contract/gateway";
import * as governance from "@seneschal/contract/governance";
import * as scheduler from "@seneschal/contract/scheduler";
import * as storage from "@seneschal/contract/storage";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";

const services: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { gateway, governance, scheduler, storage };

describe.each(Object.entries(services))("the OpenAPI document of %s", (name, exported) => {
  const contract = exported[`${name}Contract`] as Contract | undefined;

  test.skipIf(contract === undefined)("is valid OpenAPI 3.1 and holds every route", async () => {
    const errors = exported[`${name}Errors`] as ErrorTable;
    const document = openapi(contract ?? {}, { title: name, version: "1.0.0", errors });
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const ids = Object.values(document["paths"] as object).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids.sort()).toEqual(Object.keys(contract ?? {}).sort());
  });
});
