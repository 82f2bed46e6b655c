import { readFile } from "node:fs/promises";
import { inflateRawSync } from "node:zlib";
import { client } from "@seneschal/contract";
import { FILE_MEDIA_TYPES, governanceContract } from "@seneschal/contract/governance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

const MAIL = "ada.canary@example.org";
const csv = `id,contact\n1,${MAIL}\n2,nobody\n`;
const fixture = (name: string) => readFile(new URL(`./fixtures/${name}`, import.meta.url));
/** What the files of a ZIP archive hold, one behind the other. */
function unzipped(zip: Buffer): string {
  let text = "";
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50; ) {
    const from = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
    at = from + zip.readUInt32LE(at + 18);
    text += inflateRawSync(zip.subarray(from, at)).toString();
  }
  return text;
}
/** A file of each format, with a value. */
const FILES = {
  csv: Buffer.from(csv),
  tsv: Buffer.from(csv.replaceAll(",", "\t")),
  json: Buffer.from(JSON.stringify([{ contact: MAIL }])),
  jsonl: Buffer.from(`${JSON.stringify({ contact: MAIL })}\n\n${JSON.stringify({ n: 1 })}\n`),
  xlsx: await fixture("people.xlsx"),
  parquet: await fixture("people.parquet"),
  pdf: await fixture("letter.pdf"),
} as const;
type Format = keyof typeof FILES;
const FORMATS = Object.keys(FILES) as Format[];
const REDACTED = FORMATS.filter((format) => format !== "pdf");

describe.each(servers)("files on %s", (_, serve) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(serve, {
      settings: {
        files: { max_bytes: 100_000 },
        redaction: { rules: [{ entity: "CREDIT_CARD", operator: "mask", keep_last: 4 }] },
      },
    });
  });
  afterAll(() => rig.stop());

  const send = (path: string, bytes: Uint8Array, type: string, who: string | undefined = "admin") =>
    fetch(`${rig.service.url}${path}`, {
      method: "POST",
      headers: { ...(who === "" ? {} : { authorization: `Bearer key-of-${who}` }), "content-type": type },
      body: new Uint8Array(bytes),
    });
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; details: Record<string, unknown> } };
    return [response.status, error.code, error.details["field"]];
  };
  const audited = async (operation: string) => {
    const { body } = await rig.call("admin", "GET", `/api/v1/audit?operation_type=${operation}`);
    return JSON.stringify(body);
  };

  test.each(FORMATS)("a file of %s is classified, and recorded without its values", async (format) => {
    const response = await send("/api/v1/classify/file?about=people", FILES[format], FILE_MEDIA_TYPES[format]);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const { tier, tags } = JSON.parse(text) as { tier: string; tags: string[] };
    expect(["CONFIDENTIAL", "RESTRICTED", "PROPRIETARY"]).toContain(tier);
    expect(tags).toContain("PII");
    expect(text).not.toContain("canary");
    const records = await audited("CLASSIFY");
    expect(records).toContain(`"resource":"${format}"`);
    expect(records).not.toContain("canary");
  });

  test.each(REDACTED)(
    "a file of %s is redacted to one of the same format, and restored for who redacted it alone",
    async (format) => {
      const type = FILE_MEDIA_TYPES[format];
      const response = await send("/api/v1/redact/file?rule=EMAIL_ADDRESS%3Dtokenise", FILES[format], type);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(response.status, bytes.toString()).toBe(200);
      expect(response.headers.get("content-type")?.split(";")[0]).toBe(type);
      expect(response.headers.get("x-redactions")).toMatch(/EMAIL_ADDRESS=[1-9]/);
      const seen = format === "xlsx" ? unzipped(bytes) : bytes.toString("latin1");
      expect(seen).not.toContain("canary");
      const again = await send("/api/v1/classify/file", bytes, type);
      expect(again.status).toBe(200);
      const back = async (who: string) => {
        const restored = await send("/api/v1/restore/file", bytes, type, who);
        expect(restored.status).toBe(200);
        return [Number(restored.headers.get("x-restored")), Buffer.from(await restored.arrayBuffer())] as const;
      };
      const [count, restored] = await back("admin");
      expect(count).toBeGreaterThan(0);
      if (format !== "xlsx" && format !== "parquet") expect(restored).toEqual(FILES[format]);
      expect((await back("other"))[0]).toBe(0);
      const records = (await audited("REDACT")) + (await audited("RESTORE"));
      expect(records).toContain(`"resource":"${format}"`);
      expect(records).not.toContain("canary");
    },
  );

  test("the deployment's rules come before the caller's, which are refused by their place where they fit nothing", async () => {
    const card = Buffer.from("card\n4111111111111111\n");
    const redact = (rules: string) => send(`/api/v1/redact/file?${rules}`, card, "text/csv; charset=utf-8");
    expect(await (await redact("rule=CREDIT_CARD%3Dkeep")).text()).toBe("card\n************1111\n");
    for (const rule of ["EMAIL%3Ddrop", "drop", "PERSON%3Dburn", "PERSON%3Dmask:9"])
      expect(await errorOf(await redact(`rule=*%3Dkeep&rule=${rule}`))).toEqual([400, "VALIDATION_ERROR", "rule[1]"]);
  });

  test("the name of the table says what a column of several meanings holds", async () => {
    const text = "race\nquorvath\n";
    const redact = async (query: string) =>
      (await send(`/api/v1/redact/file${query}`, Buffer.from(text), "text/csv; charset=utf-8")).text();
    expect(await redact("")).toBe(text);
    expect(await redact("?about=results")).toBe(text);
    expect(await redact("?about=hr.patients")).toBe("race\n<ETHNICITY>\n");
    const tooLong = await send(`/api/v1/redact/file?about=${"x".repeat(256)}`, Buffer.from(text), "text/csv; charset=utf-8");
    expect(await errorOf(tooLong)).toEqual([400, "VALIDATION_ERROR", "about"]);
  });

  test("whatever its bytes, a file of another format than it is said to be is refused by its type", async () => {
    for (const said of FORMATS)
      for (const format of FORMATS) {
        const text = ["csv", "tsv"];
        if (said === format || (text.includes(said) && text.includes(format))) continue;
        const [status, code, field] = await errorOf(
          await send("/api/v1/redact/file", FILES[format], FILE_MEDIA_TYPES[said]),
        ).catch(() => [200]);
        // A PDF is not redacted at all; one document of JSON may be a line of it.
        if (said === "pdf") expect([status, code], `${format} as ${said}`).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
        else if (said === "jsonl" && format === "json") expect(status).toBe(200);
        else
          expect([status, code, /^(?:body|text|headers\.content-type)$/.test(`${field}`)], `${format} as ${said}`).toEqual([
            400,
            "VALIDATION_ERROR",
            true,
          ]);
      }
  });

  test("what is too large, of no known type, or not allowed is not read", async () => {
    for (const path of ["/api/v1/classify/file", "/api/v1/redact/file", "/api/v1/restore/file"]) {
      expect((await send(path, new Uint8Array(100_001), "text/csv")).status).toBe(413);
      for (const type of [
        "text/plain",
        "application/octet-stream",
        "application/vnd.ms-excel",
        "multipart/form-data",
        "text/csv; charset=iso-8859-1",
      ])
        expect((await send(path, FILES.csv, type)).status).toBe(415);
      expect((await send(path, FILES.csv, "text/csv", "reader")).status).toBe(403);
    }
    expect((await send("/api/v1/redact/file", FILES.csv, "text/csv", "judge")).status).toBe(403);
    for (const work of ["classify", "redact", "restore"])
      expect((await send(`/api/v1/${work}/file`, FILES.csv, "text/csv", "")).status, work).toBe(401);
    expect((await send("/api/v1/classify/file", FILES.csv, "text/csv", "judge")).status).toBe(200);
  });

  test("the typed client sends a file with its type, and says so where it has none", async () => {
    const call = client(governanceContract, {
      baseUrl: rig.service.url,
      fetch: fetch as never,
      headers: { authorization: "Bearer key-of-admin" },
    });
    const bytes = new Uint8Array(FILES.csv);
    const { bytes: redacted, mediaType } = await call.redactFile({ bytes, headers: { "content-type": "text/csv" } });
    expect([mediaType, Buffer.from(redacted).toString()]).toEqual(["text/csv", csv.replace(MAIL, "<EMAIL_ADDRESS>")]);
    const { columns } = await call.classifyFile({ bytes, headers: { "content-type": "text/csv" } });
    expect(columns?.map(({ column }) => column)).toEqual(["id", "contact"]);
    await expect(call.redactFile({ bytes })).rejects.toThrow("headers.content-type");
  });
});
