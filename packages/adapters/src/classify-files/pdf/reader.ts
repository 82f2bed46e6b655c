import type { Operators } from "./painted.ts";
import type { Run } from "./text-lines.ts";

/** What is used of pdf.js, whose types the package unpdf does not tell. What a member that is `unknown` holds is of the document. */
export interface PdfReader {
  readonly OPS: Readonly<Record<string, number>>;
  readonly AnnotationMode: { readonly ENABLE: number };
  getDocument(settings: object): { readonly promise: Promise<PdfDocument> };
}

export interface PdfDocument {
  readonly numPages: number;
  readonly loadingTask: { destroy(): Promise<void> };
  getPage(number: number): Promise<PdfPage>;
  getMetadata(): Promise<{ readonly info: Readonly<Record<string, unknown>>; readonly metadata: { getRaw(): unknown } | null }>;
  getOptionalContentConfig(): Promise<Iterable<unknown> & { readonly name: unknown; readonly creator: unknown }>;
  getOutline(): Promise<unknown>;
  getFieldObjects(): Promise<unknown>;
  getJSActions(): Promise<object | null>;
  getDestinations(): Promise<Readonly<Record<string, unknown>>>;
  getPageLabels(): Promise<unknown>;
  getAttachments(): Promise<Readonly<Record<string, unknown>> | null>;
}

export interface PdfPage {
  readonly pageNumber: number;
  readonly commonObjs: { get(name: string): object | null };
  getTextContent(options: object): Promise<{ readonly items: readonly (Run | object)[] }>;
  getAnnotations(options: object): Promise<readonly Readonly<Record<string, unknown>>[]>;
  getOperatorList(options: object): Promise<Operators>;
  getStructTree(): Promise<unknown>;
  getJSActions(): Promise<unknown>;
  cleanup(): void;
}

/** pdf.js, which is of newer engines than Node.js 20. */
export async function loadPdfReader(): Promise<PdfReader> {
  (ArrayBuffer.prototype as { transferToFixedLength?: unknown }).transferToFixedLength ??= function (this: ArrayBuffer) {
    return this.slice(0);
  };
  return import("unpdf/pdfjs") as Promise<unknown> as Promise<PdfReader>;
}
