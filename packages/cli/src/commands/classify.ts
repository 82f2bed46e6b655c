import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type {
  ClassifyOptions,
  FileFormat,
  FileReport,
  PdfReport,
  RandomAccess,
  XlsxReport,
} from "@seneschal/adapters/classify-files";
import { CodedError } from "@seneschal/kernel";
import { Option } from "commander";
import type { AddCommand } from "./add-command.ts";

type Format = FileFormat | "parquet" | "pdf" | "xlsx";

/** `seneschal classify`: what files hold, on this machine, by column or by page; no value of a file is ever printed. */
export const addClassify: AddCommand = (program, { host, result }) => {
  program
    .command("classify")
    .description("classify the columns of CSV, TSV, JSON Lines, JSON and Parquet files, the pages of PDFs, and Excel workbooks")
    .argument("<files...>", "files")
    .addOption(
      new Option("--format <format>", "default: by the file's name").choices([
        "csv",
        "tsv",
        "jsonl",
        "json",
        "parquet",
        "pdf",
        "xlsx",
      ]),
    )
    .action(async (files: string[], options: { format?: Format }) => {
      // Loaded here: the recognisers are a tenth of what a server has in memory, and no other command needs them.
      const { formatOf } = await import("@seneschal/adapters/classify-files");
      const reports = [];
      for (const name of files) {
        const path = resolve(host.cwd, name);
        const ending = /\.(pdf|json|parquet|pq|xlsx)$/i.exec(name)?.[1]?.toLowerCase() as
          | "pdf"
          | "json"
          | "parquet"
          | "pq"
          | undefined;
        const format = options.format ?? (ending === "pq" ? "parquet" : ending) ?? formatOf(name);
        if (format === undefined) throw new CodedError("usage", `${name}: name its --format`);
        const report = await classify(path, name, format, (share, records) =>
          host.progress(`${name} ${bar(share)} ${records} records`),
        );
        host.progress("");
        reports.push({ file: name, ...report });
      }
      result(
        { files: reports },
        reports
          .flatMap(({ file, ...report }) => {
            const { tier, tags } = report;
            const size = "pages" in report ? `, ${report.pages} pages` : "records" in report ? `, ${report.records} records` : "";
            return [`${file}: ${tier} (${tags.join(", ")})${size}`, ...linesOf(report)];
          })
          .join("\n"),
      );
    });
};

function linesOf(report: FileReport | PdfReport | XlsxReport): readonly string[] {
  const line = (name: string, tier: string, more: string) => `  ${name.padEnd(24)} ${tier.padEnd(13)} ${more}`;
  if ("entities" in report) return Object.entries(report.entities).map(([entity, count]) => `  ${entity.padEnd(24)} ${count}`);
  if (!("pages" in report))
    return report.columns.map(({ column, tier, entity, term }) => line(column, tier, entity ?? term ?? ""));
  return [
    ...report.parts.map(({ part, tier, tags }) => line(part, tier, tags.join(", "))),
    ...report.unread.map((unread) => `  not read, so it may hold anything: ${unread}`),
  ];
}

/** A workbook is held whole. */
const MOST_XLSX = 64 << 20;

async function classify(
  path: string,
  name: string,
  format: Format,
  onShare: (share: number, records: number) => void,
): Promise<FileReport | PdfReport | XlsxReport> {
  const { classifyFile, classifyParquet, classifyPdf, classifyXlsx, textsOf } = await import(
    "@seneschal/adapters/classify-files"
  );
  const file = await open(path).catch(() => undefined);
  if (file === undefined) throw new CodedError("file_unreadable", `${name} cannot be read`);
  try {
    const byteLength = (await file.stat()).size;
    const about = basename(name).replace(/\.[^.]*$/, "");
    const options: ClassifyOptions = {
      about,
      onProgress: ({ read, records }) => onShare(read / Math.max(byteLength, 1), records),
    };
    if (format !== "parquet" && format !== "pdf" && format !== "xlsx")
      return await classifyFile(textsOf(createReadStream(path)), { ...options, format });
    const bytes: RandomAccess = {
      byteLength,
      async read(start, end) {
        const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(end - start), position: start });
        return buffer.subarray(0, bytesRead);
      },
    };
    if (format === "xlsx") {
      if (byteLength > MOST_XLSX) throw new CodedError("file_invalid", `${name} is larger than ${MOST_XLSX >> 20} MiB`);
      return await classifyXlsx(await bytes.read(0, byteLength), { about });
    }
    return await (format === "pdf" ? classifyPdf(bytes) : classifyParquet(bytes, options));
  } finally {
    await file.close();
  }
}

const WIDTH = 24;

function bar(share: number): string {
  const full = Math.min(WIDTH, Math.round(share * WIDTH));
  return `[${"#".repeat(full)}${".".repeat(WIDTH - full)}]`;
}
