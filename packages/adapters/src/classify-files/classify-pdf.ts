import { createRequire } from "node:module";
import {
  createClassifier,
  DEFAULT_RECOGNISERS,
  DEFAULT_TIER_POLICY,
  lowestTier,
  MAX_QUERY_LENGTH,
  maxTier,
  type Recogniser,
  type TierPolicy,
  unreadable,
} from "@seneschal/governance";
import { CodedError, checkArgument, checkOptions, isCoded } from "@seneschal/kernel";
import { missingBackEnd } from "../back-end.ts";
import { openWorkerPool } from "../worker-pool/index.ts";
import type { RandomAccess } from "./parquet/page-cursor.ts";
import type { PdfLimits, PdfRefusal, PdfTexts } from "./pdf/read-pdf.ts";

/** What a part of a document holds. Never a value of it. */
export interface PdfPart {
  /** `document` (properties, outline, form, layers), `page 3`, `attachment 1`. */
  readonly part: string;
  readonly tier: string;
  readonly tags: readonly string[];
}

/** What a PDF holds. Never a value of it. */
export interface PdfReport {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly pages: number;
  readonly parts: readonly PdfPart[];
  /** What nobody could read, by part: `page 3: a picture`. Where there is any, the document is of the highest tier. */
  readonly unread: readonly string[];
}

export interface ClassifyPdfOptions {
  readonly policy?: TierPolicy;
  readonly recognisers?: readonly Recogniser[];
  /** Milliseconds that reading the document may take. Default 60,000. */
  readonly deadline?: number;
}

const MOST_BYTES = 64 << 20;
const MOST_PAGES = 5000;
const DEADLINE = 60_000;
/** A value on the edge of two pieces of a long text is whole in one of them. */
const OVERLAP = 4096;

/**
 * Classifies a PDF, page by page, in a thread of its own: what its pages show, and annotations, forms, outline, properties, scripts, layers and attachments that are texts or PDFs. What nobody can read is not harmless: pictures, drawings
 * without text, letters that the file does not explain, forms of XFA, signatures, other attachments and damaged parts make it of the highest tier, and `unread` names them. Not read: text that is drawn by lines beside
 * other text, and what earlier versions within the file say. Needs the package unpdf.
 *
 * Throws `file_invalid` for what is no PDF, encrypted, or larger than 64 MiB or 5000 pages, and where reading takes longer than `deadline`; `back_end_missing`.
 *
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { classifyPdf } from "@seneschal/adapters/classify-files";
 * async function tierOf(path: string): Promise<string> {
 *   const bytes = new Uint8Array(await readFile(path));
 *   const report = await classifyPdf({ byteLength: bytes.length, read: async (start, end) => bytes.slice(start, end) });
 *   return report.tier; // the highest where `report.unread` names something
 * }
 * console.log(typeof tierOf); // function
 * ```
 */
export async function classifyPdf(file: RandomAccess, options: ClassifyPdfOptions = {}): Promise<PdfReport> {
  checkOptions("options", options, { policy: "object?", recognisers: "array?", deadline: "number?" });
  checkArgument("file", file, "object");
  const { policy = DEFAULT_TIER_POLICY, recognisers = DEFAULT_RECOGNISERS, deadline = DEADLINE } = options;
  const { pages, texts, unread } = await textsOf(file, deadline);
  const { classify } = createClassifier({ policy, recognisers });
  const parts = new Map<string, PdfPart>();
  for (const { part, text } of texts) {
    for (const piece of piecesOf(text)) {
      const { tier, tags } = classify(piece);
      const before = parts.get(part);
      parts.set(part, {
        part,
        tier: before === undefined ? tier : maxTier(policy, before.tier, tier),
        tags: [...new Set([...(before?.tags ?? []), ...tags])].sort(),
      });
    }
  }
  let { tier } = unread.length > 0 ? unreadable(policy, unread.join(", ")) : { tier: lowestTier(policy) };
  for (const part of parts.values()) tier = maxTier(policy, tier, part.tier);
  const tags = [...new Set([...parts.values()].flatMap((part) => part.tags))].sort();
  return { tier, tags, pages, parts: [...parts.values()], unread };
}

async function textsOf(file: RandomAccess, deadline: number): Promise<PdfTexts> {
  if (file.byteLength > MOST_BYTES) throw new CodedError("file_invalid", `larger than ${MOST_BYTES >> 20} MiB`);
  try {
    // Loaded by the thread; that it is missing is told here.
    createRequire(import.meta.url).resolve("unpdf");
  } catch (error) {
    missingBackEnd(error);
  }
  const pool = openWorkerPool<Uint8Array, PdfTexts | PdfRefusal>({
    name: "pdf",
    module: new URL("./pdf/worker", import.meta.url),
    settings: { pages: MOST_PAGES } satisfies PdfLimits,
    workers: 1,
    deadline,
    waitingPerOwner: 1,
  });
  try {
    const done = await pool.run(await file.read(0, file.byteLength), "pdf");
    if ("refused" in done) throw new CodedError("file_invalid", done.refused);
    return done;
  } catch (error) {
    if (isCoded(error, "deadline_exceeded")) throw new CodedError("file_invalid", "reading it takes too long", {}, error);
    throw error;
  } finally {
    await pool.close();
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += MAX_QUERY_LENGTH - OVERLAP) {
    yield text.slice(from, from + MAX_QUERY_LENGTH);
    if (from + MAX_QUERY_LENGTH >= text.length) return;
  }
}
