import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entityRecogniserSuite } from "@seneschal/kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingForModels } from "../../../../tools/onnx-runtime.ts";
import { writeTinyModel } from "../../../../tools/tiny-model.ts";
import { type OnnxRecogniserOptions, openOnnxRecogniser } from "../../src/recognisers/index.ts";
import { runner } from "../suite-runner.ts";

if (missingForModels !== "") console.warn(`no ${missingForModels}: no model is run in this process`);

const LABELS = ["O", "B-PER", "I-PER", "B-LOC"];
const WORDS = { Zork: "B-PER", "##blat": "I-PER", Oz: "B-LOC", with: "O", lunch: "O", nobody: "O", there: "O" };

describe.skipIf(missingForModels !== "")("a model in this process", () => {
  let dir = "";
  let options: OnnxRecogniserOptions;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "onnx-"));
    const files = await writeTinyModel(dir, { words: WORDS, labels: LABELS });
    options = { ...files, lowerCase: false, entities: { PER: "PERSON", LOC: "LOCATION" }, threads: 2, timeout: 120_000 };
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  entityRecogniserSuite(runner, {
    open: () => openOnnxRecogniser(options),
    sample: { text: "lunch with Zorkblat there", value: "Zorkblat", entity: "PERSON" },
    nothing: "lunch with nobody there",
  });

  test("reads a text as its parts alone are read, wherever its windows begin", async () => {
    const recogniser = await openOnnxRecogniser(options);
    const words = Array.from({ length: 900 }, (_, i) => (i % 7 === 3 ? "Zorkblat" : i % 11 === 5 ? "Oz" : "lunch"));
    const [spans = []] = await recogniser.recognise([words.join(" ")], "acme");
    const text = words.join(" ");
    expect(spans.map(({ entity, start, end }) => [entity, text.slice(start, end)])).toEqual(
      words.filter((word) => word !== "lunch").map((word) => [word === "Oz" ? "LOCATION" : "PERSON", word]),
    );
    await recogniser.close();
  });

  test("a text that takes too long is unavailable, and the next one is read", async () => {
    const recogniser = await openOnnxRecogniser({ ...options, timeout: 120_000 });
    const hasty = await openOnnxRecogniser({ ...options, timeout: 2000 }).catch((error: Error) => error);
    if ("recognise" in hasty) {
      await expect(hasty.recognise(["lunch ".repeat(3_000_000)], "acme")).rejects.toMatchObject({
        code: "service_unavailable",
        details: { retry_after: expect.any(Number) },
      });
      await hasty.close();
    } else expect(hasty).toMatchObject({ code: "model_unusable" });
    expect(await recogniser.recognise(["Oz"], "acme")).toMatchObject([[{ entity: "LOCATION" }]]);
    await recogniser.close();
  });

  describe("whose files do not belong together is refused when it is opened", () => {
    const refused = async (more: Partial<OnnxRecogniserOptions>) =>
      expect(openOnnxRecogniser({ ...options, ...more })).rejects.toMatchObject({ code: "model_unusable" });

    test("files that are not there", async () => {
      await refused({ model: join(dir, "none.onnx") });
      await refused({ vocabulary: join(dir, "none.txt") });
      await refused({ config: join(dir, "none.json") });
    });

    test("a model that is none, or is cut off", async () => {
      const model = join(dir, "broken.onnx");
      await writeFile(model, (await readFile(options.model)).subarray(0, 300));
      await refused({ model });
    });

    test("labels of another model, and such as nobody speaks of", async () => {
      const config = join(dir, "other.json");
      await writeFile(config, JSON.stringify({ id2label: { 0: "O", 1: "B-PER" } }));
      await refused({ config });
      await refused({ entities: { PER: "PERSON" } });
    });

    test("a vocabulary with ids that the model does not have", async () => {
      const vocabulary = join(dir, "long.txt");
      const own = await readFile(options.vocabulary, "utf8");
      await writeFile(vocabulary, own.replace("[CLS]", "cls").replace(/\n$/, `${"\nmore".repeat(50)}\n[CLS]\n`));
      await refused({ vocabulary });
    });

    test("a model that asks for more than tokens", async () => {
      const other = await mkdtemp(join(dir, "other-"));
      const files = await writeTinyModel(other, { words: WORDS, labels: LABELS, inputs: ["input_ids", "pixel_values"] });
      await refused(files);
    });
  });
});
