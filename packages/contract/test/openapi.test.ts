import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Contract, contract, openapi } from "../src/index.ts";
import { sampleContract, sampleErrors } from "../src/testing/index.ts";

const info = { title: "Sample", version: "1.2.3", errors: sampleErrors };
// biome-ignore lint/suspicious/noExplicitAny: a document is walked freely
const documentOf = (routes: Contract) => openapi(routes, info) as any;
const base = { summary: "s", tag: "t", auth: "public", status: 200 } as const;

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(JSON.stringify(documentOf(sampleContract))));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("has every route under its operation id, with braces for parameters", () => {
    const { paths } = documentOf(sampleContract);
    const ids = Object.values(paths).flatMap((path) => Object.values(path as object).map((operation) => operation.operationId));
    expect(ids.sort()).toEqual(Object.keys(sampleContract).sort());
    expect(paths["/widgets/{id}"].get.parameters).toMatchObject([{ name: "id", in: "path", required: true }]);
  });

  test("query numbers are integers with their bounds, optional ones are not required", () => {
    const { parameters } = documentOf(sampleContract).paths["/echo/{value}"].get;
    expect(parameters.find((one: { name: string }) => one.name === "n")).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 0, maximum: 9 },
    });
  });

  test("errors name their codes and share one shape; what can be answered depends on the route", () => {
    const { paths, components } = documentOf(sampleContract);
    expect(components.schemas.Error.properties.error.properties.code.enum).toContain("RATE_LIMITED");
    expect(Object.keys(paths["/widgets"].post.responses)).toEqual([
      "201",
      "400",
      "401",
      "403",
      "404",
      "408",
      "413",
      "415",
      "429",
      "431",
      "500",
      "503",
    ]);
    expect(Object.keys(paths["/text"].get.responses)).toEqual(["200", "400", "408", "415", "429", "431", "500", "503"]);
    expect(paths["/widgets"].post.responses[400]["x-error-codes"]).toEqual(["BAD_REQUEST", "VALIDATION_ERROR"]);
  });

  test("security says how: nothing, anything, or a credential", () => {
    const { paths } = documentOf(sampleContract);
    expect(paths["/text"].get.security).toEqual([]);
    expect(paths["/widgets"].post.security).toEqual([{ bearer: [] }, { mtls: [] }]);
    expect(paths["/widgets"].post["x-action"]).toBe("widget:create");
  });

  test("named schemas are components; request and reply forms that differ are twins", () => {
    const widget = z.strictObject({ name: z.string(), size: z.number().default(1) }).meta({ id: "Widget" });
    const tree = z
      .strictObject({
        widget,
        get children() {
          return z.array(tree);
        },
      })
      .meta({ id: "Tree" });
    const { paths, components } = documentOf(
      contract({
        make: { ...base, method: "POST", path: "/w", body: widget, reply: widget },
        tree: { ...base, method: "GET", path: "/t", reply: tree, extension: true },
      }),
    );
    expect(paths["/w"].post.requestBody.content["application/json"].schema).toEqual({ $ref: "#/components/schemas/Widget" });
    expect(components.schemas.Widget.required).toEqual(["name"]);
    expect(paths["/w"].post.responses[200].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/WidgetOutput",
    });
    expect(components.schemas.WidgetOutput.required).toEqual(["name", "size"]);
    expect(components.schemas.Tree.properties.children.items).toEqual({ $ref: "#/components/schemas/Tree" });
    expect(components.schemas.Tree.properties.widget).toEqual({ $ref: "#/components/schemas/WidgetOutput" });
    expect(paths["/t"].get["x-extension"]).toBe(true);
  });

  test("a reply that is no JSON object names every media type that it can have", () => {
    const routes = contract({
      out: { ...base, method: "GET", path: "/o", produces: ["text/csv; charset=utf-8", "application/json"] },
    });
    expect(documentOf(routes).paths["/o"].get.responses[200].content).toEqual({
      "text/csv": { schema: { type: "string" } },
      "application/json": { schema: {} },
    });
  });

  test("two different schemas cannot share an id", () => {
    const one = (shape: z.ZodRawShape) => z.strictObject(shape).meta({ id: `Clash` });
    const routes = ["a", "b", "c"].map((name) => [
      name,
      { ...base, method: "GET", path: `/${name}`, reply: one({ [name]: z.string() }) },
    ]);
    expect(() => documentOf(Object.fromEntries(routes) as Contract)).toThrow(TypeError);
  });
});
