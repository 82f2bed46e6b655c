import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSmartctl, readSmartFile } from "@seneschal/adapters/smart";
import { expect, test } from "vitest";

test("smartctl JSON of an NVMe and of an ATA disk becomes a reading", () => {
  expect(
    parseSmartctl({
      smartctl: { version: [7, 3] },
      temperature: { current: 41 },
      nvme_smart_health_information_log: { percentage_used: 103, media_errors: 2 },
    }),
  ).toEqual({ temperatureCelsius: 41, wearPercent: 103, uncorrectableReads: 2 });
  expect(
    parseSmartctl({
      smartctl: {},
      ata_smart_attributes: {
        table: [
          { id: 5, value: 95, raw: { value: 101 } },
          { id: 187, value: 100, raw: { value: 0 } },
          { id: 231, value: 8, raw: { value: 0 } },
        ],
      },
    }),
  ).toEqual({ badSectors: 101, uncorrectableReads: 0, wearPercent: 92 });
});

test("a SMART file is read in both forms; absent is absent, nonsense is refused by name", async () => {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-smart-"));
  const path = join(directory, "d1.json");
  expect(await readSmartFile(path)).toBeUndefined();
  await writeFile(path, '{"wear_percent": 91}');
  expect(await readSmartFile(path)).toEqual({ wearPercent: 91 });
  for (const bad of ["{", '{"wear": 1}', '{"wear_percent": "91"}', "[]"]) {
    await writeFile(path, bad);
    await expect(readSmartFile(path)).rejects.toMatchObject({ code: "smart_invalid" });
  }
  await rm(directory, { recursive: true });
});
