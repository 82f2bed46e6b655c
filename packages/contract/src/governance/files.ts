import * as z from "zod";
import { listParam } from "../query.ts";
import type { Contract } from "../route.ts";

/** The formats of files, and how they are called in `Content-Type`. */
export const FILE_MEDIA_TYPES = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  jsonl: "application/jsonl",
  parquet: "application/vnd.apache.parquet",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pdf: "application/pdf",
} as const;

const { csv, tsv, json, jsonl, parquet, xlsx, pdf } = FILE_MEDIA_TYPES;
const redacted = [csv, tsv, json, jsonl, parquet, xlsx] as const;

/** What the columns of a file or table belong to. */
export const about = z.string().max(255).optional().meta({ description: "Name of the file or table: context for its columns" });

const column = z.strictObject({
  column: z.string(),
  tier: z.string(),
  tags: z.array(z.string()),
  entity: z.string().optional(),
  term: z.string().optional(),
  score: z.number().optional(),
  fitting: z.number().optional(),
  reasons: z.array(z.string()),
});

/** Classifying and redacting whole files, which are the body of the request, of at most so many bytes. */
export function fileRoutes(bodyLimit: number) {
  return {
    classifyFile: {
      method: "POST",
      path: "/api/v1/classify/file",
      summary: "Classify a file by its columns, pages or cells",
      tag: "classification",
      auth: "principal",
      action: "classify",
      safe: true,
      consumes: [csv, tsv, json, jsonl, parquet, xlsx, pdf],
      bodyLimit,
      query: z.strictObject({ about }),
      status: 200,
      reply: z
        .strictObject({
          tier: z.string(),
          tags: z.array(z.string()),
          records: z.int().optional(),
          columns: z.array(column).optional(),
          pages: z.int().optional(),
          parts: z.array(z.strictObject({ part: z.string(), tier: z.string(), tags: z.array(z.string()) })).optional(),
          entities: z.record(z.string(), z.int()).optional().meta({ description: "Of a workbook: how often each was found" }),
          unread: z
            .array(z.string())
            .optional()
            .meta({ description: "What nobody could read; where there is any, the file is of the highest tier" }),
        })
        .meta({ id: "ClassifyFileResponse" }),
      extension: true,
    },
    redactFile: {
      method: "POST",
      path: "/api/v1/redact/file",
      summary: "Hide the sensitive values of a file; the answer is a file of the same format",
      tag: "redaction",
      auth: "principal",
      action: "redact",
      safe: true,
      consumes: redacted,
      produces: redacted,
      bodyLimit,
      query: z.strictObject({
        rule: listParam(z.string().max(160))
          .optional()
          .meta({ description: "`ENTITY=OPERATOR`, `TIER=OPERATOR`, `*=OPERATOR`; `mask:4`" }),
        country: z.string().max(8).optional(),
        about,
      }),
      status: 200,
      extension: true,
    },
    restoreFile: {
      method: "POST",
      path: "/api/v1/restore/file",
      summary: "Put back in a file what `tokenise` and `encrypt` of the caller's organisation took",
      tag: "redaction",
      auth: "principal",
      action: "restore",
      safe: true,
      consumes: redacted,
      produces: redacted,
      bodyLimit,
      status: 200,
      extension: true,
    },
  } as const satisfies Contract;
}
