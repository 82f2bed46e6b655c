import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { classifyFile, type FileFormat, formatOf } from "@seneschal/adapters/classify-files";
import { CodedError } from "@seneschal/core";
import type { AddCommand } from "./add-command.ts";

/** `seneschal classify`: what the columns of files hold, on this machine; no value of a file is ever printed. */
export const addClassify: AddCommand = (program, { host, result }) => {
  program
    .command("classify")
    .description("classify the columns of CSV, TSV and JSON Lines files")
    .argument("<files...>", "files")
    .option("--format <format>", "csv, tsv or jsonl; default by the file's name")
    .action(async (files: string[], options: { format?: FileFormat }) => {
      const reports = [];
      for (const name of files) {
        const path = resolve(host.cwd, name);
        const format = options.format ?? formatOf(name);
        if (format === undefined) throw new CodedError("usage", `${name}: name its --format`);
        const size = await stat(path).then(
          (facts) => facts.size,
          () => undefined,
        );
        if (size === undefined) throw new CodedError("file_unreadable", `${name} cannot be read`);
        const report = await classifyFile(createReadStream(path, "utf8"), {
          format,
          about: basename(name).replace(/\.[^.]*$/, ""),
          onProgress: ({ read, records }) => host.progress(`${name} ${bar(read / Math.max(size, 1))} ${records} records`),
        });
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

const WIDTH = 24;

function bar(share: number): string {
  const full = Math.min(WIDTH, Math.round(share * WIDTH));
  return `[${"#".repeat(full)}${".".repeat(WIDTH - full)}]`;
}
