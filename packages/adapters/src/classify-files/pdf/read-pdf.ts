import { lettersOf, paintedOf } from "./painted.ts";
import { loadPdfReader, type PdfDocument, type PdfPage } from "./reader.ts";
import { linesOf, type Run } from "./text-lines.ts";

/** Every text of a document by the part that holds it, and what of it nobody read. */
export interface PdfTexts {
  readonly pages: number;
  readonly texts: readonly { readonly part: string; readonly text: string }[];
  /** Never a value of the document. */
  readonly unread: readonly string[];
}

/** Why a document is not read at all. */
export interface PdfRefusal {
  readonly refused: string;
}

export interface PdfLimits {
  readonly pages: number;
}

/** Documents within documents so deep are read. */
const MOST_DEEP = 3;
/** What the reader says of a document that it has read all the same: programs in fonts that only round their shapes, notes that it would have to draw itself, its own start. */
const HARMLESS = /^Warning: (?:TT: |Setting up fake worker|.*OffscreenCanvas is not supported)/;
const PICTURE = /^Warning: Image exceeded maximum allowed size/;

/**
 * Reads a PDF: what its pages show, in the order of the file and of the eye, and what else tells a reader something: annotations, forms, outline, properties, layers, scripts, what is attached.
 * The reader mends what is broken and goes on; whatever it remarks is told as unread. `remarks` tells what that is since it was asked last: see {@link remarksOf}.
 */
export async function readPdf(
  data: Uint8Array,
  limits: PdfLimits,
  remarks: () => readonly string[],
): Promise<PdfTexts | PdfRefusal> {
  const { AnnotationMode, OPS, getDocument } = await loadPdfReader();
  return read(data, 0);

  async function read(bytes: Uint8Array, depth: number): Promise<PdfTexts | PdfRefusal> {
    const settings = {
      data: bytes,
      verbosity: 1,
      // A picture is remarked and not unpacked.
      maxImageSize: 1,
      fontExtraProperties: true,
      disableFontFace: true,
      useSystemFonts: true,
      isEvalSupported: false,
      useWasm: false,
      useWorkerFetch: false,
    };
    let document: PdfDocument;
    try {
      document = await getDocument(settings).promise;
    } catch (error) {
      const { name } = error as Error;
      return { refused: name === "PasswordException" ? "it is encrypted" : "not a PDF that can be read" };
    }
    try {
      if (document.numPages > limits.pages) return { refused: `more than ${limits.pages} pages` };
      const texts: { part: string; text: string }[] = [];
      const unread = new Set<string>();
      const remarked = (part: string): void => {
        for (const remark of remarks())
          if (PICTURE.test(remark)) unread.add(`${part}: a picture`);
          else if (!HARMLESS.test(remark)) unread.add(`${part}: a part that is damaged or of a kind that nobody reads`);
      };
      const attached = async (files: readonly unknown[]): Promise<void> => {
        for (const file of files) {
          const part = `attachment ${++attachments}`;
          const { content, ...about } = file as { readonly content?: unknown };
          texts.push({ part, text: stringsOf(about).join("\n") });
          const inner = content instanceof Uint8Array ? content : undefined;
          const text = inner === undefined ? undefined : textOf(inner);
          if (text !== undefined) texts.push({ part, text });
          else if (inner === undefined || depth === MOST_DEEP || !isPdf(inner)) unread.add(`${part}: no text`);
          else {
            const done = await read(inner, depth + 1);
            if ("refused" in done) unread.add(`${part}: ${done.refused}`);
            else {
              texts.push(...done.texts.map((one) => ({ part, text: one.text })));
              for (const one of done.unread) unread.add(`${part}: ${one}`);
            }
          }
        }
      };
      let attachments = 0;

      const { info, metadata } = await document.getMetadata();
      const { IsXFAPresent, IsSignaturesPresent, IsCollectionPresent, ...told } = info;
      if (IsXFAPresent === true) unread.add("document: a form of XFA");
      if (IsSignaturesPresent === true) unread.add("document: who signed it");
      if (IsCollectionPresent === true) unread.add("document: what a portfolio says of its files");
      const layers = await document.getOptionalContentConfig();
      const properties = [
        ...namedStrings(told),
        ...stringsOf(metadata?.getRaw()),
        ...stringsOf(await document.getOutline()),
        ...stringsOf(await document.getFieldObjects()),
        ...Object.entries((await document.getJSActions()) ?? {}).flatMap(stringsOf),
        ...Object.keys(await document.getDestinations()),
        ...stringsOf(await document.getPageLabels()),
        ...stringsOf([...layers]),
        ...stringsOf([layers.name, layers.creator]),
      ];
      texts.push({ part: "document", text: properties.join("\n") });
      await attached(Object.values((await document.getAttachments()) ?? {}));
      remarked("document");

      for (let number = 1; number <= document.numPages; number++) {
        const page = await document.getPage(number);
        const part = `page ${number}`;
        const { text, files } = await readPage(page);
        texts.push(...text.map((one) => ({ part, text: one })));
        await attached(files);
        remarked(part);
        page.cleanup();
      }
      return { pages: document.numPages, texts: texts.filter(({ text }) => text.trim() !== ""), unread: [...unread] };

      async function readPage(page: PdfPage): Promise<{ readonly text: readonly string[]; readonly files: readonly unknown[] }> {
        const part = `page ${page.pageNumber}`;
        const { items } = await page.getTextContent({ disableNormalization: true });
        const runs: Run[] = items.flatMap((item) => ("str" in item ? [item] : []));
        const annotations = await page.getAnnotations({ intent: "any" });
        const operators = await page.getOperatorList({ intent: "any", annotationMode: AnnotationMode.ENABLE });
        const painted = paintedOf(operators, OPS, (font) => page.commonObjs.get(font));
        if (painted.pictures) unread.add(`${part}: a picture`);
        if (painted.strangeLetters) unread.add(`${part}: letters of which the file does not say what they are`);
        if (painted.drawn && painted.tight.trim() === "") unread.add(`${part}: drawings and no text`);
        // Where fields and notes stand beside what the page says of them.
        const fields = annotations.flatMap((annotation): Run[] => {
          const [x = 0, y = 0, , top = 0] = annotation["rect"] as readonly number[];
          const value = stringsOf(
            annotation["fieldValue"] ?? (annotation["contentsObj"] as { readonly str?: unknown } | null)?.str,
          ).join(" ");
          return value === ""
            ? []
            : [{ str: value, transform: [10, 0, 0, Math.min(10, top - y), x, y + 2], width: 0, hasEOL: false }];
        });
        const { written, seen } = linesOf(runs, fields);
        const text = [written];
        if (seen !== written) text.push(seen);
        // What is painted and no text of the page: annotations as they look, patterns, letters within letters.
        if (lettersOf(painted.tight) !== lettersOf(written)) text.push(painted.tight, painted.loose);
        const files = annotations.flatMap(({ file }) => (file === undefined || file === null ? [] : [file]));
        text.push(
          annotations.flatMap(({ file: _, ...annotation }) => [fieldLine(annotation), ...stringsOf(annotation)]).join("\n"),
          [...stringsOf(await page.getStructTree()), ...stringsOf(await page.getJSActions())].join("\n"),
        );
        return { text: [...new Set(text)], files };
      }
    } catch {
      return { refused: "damaged so that it cannot be read" };
    } finally {
      remarks();
      await document.loadingTask.destroy();
    }
  }
}

/** What is remarked on a console, which is therefore that of a thread of its own. */
export function remarksOf(console: Pick<Console, "log" | "warn">): () => readonly string[] {
  const remarks: string[] = [];
  console.warn = console.log = (...said: readonly unknown[]) => void remarks.push(said.join(" "));
  return () => remarks.splice(0);
}

/** A field with its value, as a form says it. */
function fieldLine({ fieldName, alternativeText, fieldValue }: Readonly<Record<string, unknown>>): string {
  const value = stringsOf(fieldValue).join(" ");
  return value === ""
    ? ""
    : [fieldName, alternativeText].flatMap((name) => (typeof name === "string" ? [`${name}: ${value}`] : [])).join("\n");
}

/** `name: text`, of the properties that a document tells. */
function namedStrings(told: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(told).flatMap(([name, value]) =>
    typeof value === "object" && value !== null
      ? namedStrings(value as Record<string, unknown>)
      : typeof value === "string"
        ? [`${name}: ${value}`]
        : [],
  );
}

/** All texts within a value. */
function stringsOf(value: unknown): readonly string[] {
  const found: string[] = [];
  const seen = new Set<object>();
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const one = stack.pop();
    if (typeof one === "string") found.push(one);
    if (typeof one !== "object" || one === null || ArrayBuffer.isView(one) || seen.has(one)) continue;
    seen.add(one);
    const members = one instanceof Map ? [...one].flat() : [...Object.values(one), ...gotFrom(one)];
    for (const member of members.reverse()) stack.push(member);
  }
  return found;
}

/** What the getters of a class' object give. */
function gotFrom(value: object): readonly unknown[] {
  const type = Object.getPrototypeOf(value) as object | null;
  if (type === null || type === Object.prototype || type === Array.prototype) return [];
  const members = Object.entries(Object.getOwnPropertyDescriptors(type));
  return members.flatMap(([name, { get }]) => (get === undefined ? [] : [Reflect.get(value, name)]));
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) || isPdf(bytes) ? undefined : text;
  } catch {
    return undefined;
  }
}

function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1024)).includes("%PDF-");
}
