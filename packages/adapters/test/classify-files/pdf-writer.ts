import { deflateSync } from "node:zlib";

/** An object of a PDF, by its text; streams by {@link stream}. */
export type PdfObject = string;

/** A PDF of these objects, the first of which is the catalogue; `trailer` is added to its own. */
export function pdfOf(objects: readonly PdfObject[], trailer = ""): Uint8Array {
  let text = "%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n";
  const places: number[] = [];
  for (const [i, object] of objects.entries()) {
    places.push(text.length);
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** A stream, packed or not. */
export function stream(dictionary: string, body: string, packed = false): PdfObject {
  const bytes = packed ? deflateSync(Buffer.from(body, "latin1")).toString("latin1") : body;
  return `<< ${dictionary} ${packed ? "/Filter /FlateDecode" : ""} /Length ${bytes.length} >>\nstream\n${bytes}\nendstream`;
}

/** How a text is written: in brackets, with numbers in octal, in hexadecimal, or in UTF-16. */
export type Spelling = "literal" | "octal" | "hex" | "utf-16";
export function spelled(text: string, spelling: Spelling): string {
  const bytes = Buffer.from(text, "latin1");
  if (spelling === "hex") return `<${bytes.toString("hex")}>`;
  if (spelling === "utf-16") return `<feff${[...text].map((one) => one.charCodeAt(0).toString(16).padStart(4, "0")).join("")}>`;
  const escaped = (byte: number) =>
    spelling === "octal" ? `\\${byte.toString(8).padStart(3, "0")}` : String.fromCharCode(byte).replace(/[()\\]/, "\\$&");
  return `(${[...bytes].map(escaped).join("")})`;
}

export interface Page {
  readonly content?: string;
  /** Entries of the resources beside the font F1. */
  readonly resources?: string;
  /** Bodies of annotations. */
  readonly annotations?: readonly string[];
  /** Further objects; their numbers begin at 6, behind catalogue, pages, page, content and font. */
  readonly objects?: readonly PdfObject[];
  readonly catalogue?: string;
  readonly trailer?: string;
  readonly packed?: boolean;
  readonly page?: string;
}

export const FIRST = 6;
export const COURIER = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>";

/** A document of one page. */
export function onePage(page: Page): Uint8Array {
  const { content = "", resources = "", annotations = [], objects = [], catalogue = "", trailer = "", packed = false } = page;
  return pdfOf(
    [
      `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [${annotations.join(" ")}] /Resources << /Font << /F1 5 0 R >> ${resources} >> ${page.page ?? ""} >>`,
      stream("", content, packed),
      COURIER,
      ...objects,
    ],
    trailer,
  );
}
