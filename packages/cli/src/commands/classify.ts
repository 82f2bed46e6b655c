import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ClassifyOptions, FileFormat, FileReport } from "@seneschal/adapters/classify-files";
import { CodedError } from "@seneschal/kernel";
import { Option } from "commander";
import type { AddCommand } from "./add-command.ts";

type Format = FileFormat | "parquet";

/** `seneschal classify`: what the columns of files hold, on this machine; no value of a file is ever printed. */
export const addClassify: AddCommand = (program, { host, result }) => {
  program
    .command("classify")
    .description("classify the columns of CSV, TSV, JSON Lines and Parquet files")
    .argument("<files...>", "files")
    .addOption(new Option("--format <format>", "default: by the file's name").choices(["csv", "tsv", "jsonl", "parquet"]))
    .action(async (files: string[], options: { format?: Format }) => {
      // Loaded here: the recognisers are a tenth of what a server has in memory, and no other command needs them.
      const { formatOf } = await import("@seneschal/adapters/classify-files");
      const reports = [];
      for (const name of files) {
        const path = resolve(host.cwd, name);
        const format = options.format ?? (/\.(?:parquet|pq)$/i.test(name) ? "parquet" : formatOf(name));
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
          .flatMap(({ file, tier, tags, records, columns }) => [
            `${file}: ${tier} (${tags.join(", ")}), ${records} records`,
            ...columns.map(
              (column) => `  ${column.column.padEnd(24)} ${column.tier.padEnd(13)} ${column.entity ?? column.term ?? ""}`,
            ),
          ])
          .join("\n"),
      );
    });
};

async function classify(
  path: string,
  name: string,
  format: Format,
  onShare: (share: number, records: number) => void,
): Promise<FileReport> {
  const { classifyFile, classifyParquet } = await import("@seneschal/adapters/classify-files");
  const file = await open(path).catch(() => undefined);
  if (file === undefined) throw new CodedError("file_unreadable", `${name} cannot be read`);
  try {
    const byteLength = (await file.stat()).size;
    const options: ClassifyOptions = {
      about: basename(name).replace(/\.[^.]*$/, ""),
      onProgress: ({ read, records }) => onShare(read / Math.max(byteLength, 1), records),
    };
    if (format !== "parquet") return await classifyFile(createReadStream(path, "utf8"), { ...options, format });
    return await classifyParquet(
      {
        byteLength,
        async read(start, end) {
          const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(end - start), position: start });
          return buffer.subarray(0, bytesRead);
        },
      },
      options,
    );
  } finally {
    await file.close();
  }
}

const WIDTH = 24;

function bar(share: number): string {
  const full = Math.min(WIDTH, Math.round(share * WIDTH));
  return `[${"#".repeat(full)}${".".repeat(WIDTH - full)}]`;
}
