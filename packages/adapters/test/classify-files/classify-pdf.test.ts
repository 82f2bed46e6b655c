import { createClassifier } from "@seneschal/governance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyPdf } from "../../src/classify-files/index.ts";
import { readPdf, remarksOf } from "../../src/classify-files/pdf/read-pdf.ts";
import { COURIER, onePage, type Page, pdfOf, type Spelling, spelled, stream } from "./pdf-writer.ts";

const shows = (text: string) => `BT /F1 12 Tf 50 700 Td ${text} Tj ET`;
const annotation = (entries: string) => `<< /Type /Annot /Rect [50 300 250 320] /P 3 0 R ${entries} >>`;
const form = (content: string, packed = false) =>
  stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >>", content, packed);

/** Each place where a PDF tells a text; a text is written by `write`. */
const PLACES: Readonly<Record<string, (value: string, write: (text: string) => string) => Page>> = {
  "the text of a page": (v, w) => ({ content: shows(w(`of ${v} so`)) }),
  "two pieces of a page": (v, w) => ({
    content: `BT /F1 12 Tf 50 700 Td ${w(`of ${v.slice(0, 5)}`)} Tj ${w(`${v.slice(5)} so`)} Tj ET`,
  }),
  "letters with distances between them": (v, w) => ({
    content: `BT /F1 12 Tf 50 700 Td [${[...v].map((letter) => w(letter)).join(" -30 ")}] TJ ET`,
  }),
  "letters that are placed one by one": (v, w) => ({
    content: `BT /F1 10 Tf ${[...v].map((letter, i) => `1 0 0 1 ${50 + 6 * i} 700 Tm ${w(letter)} Tj`).join(" ")} ET`,
  }),
  "pieces in another order than one sees them in": (v, w) => ({
    content: `BT /F1 10 Tf 1 0 0 1 ${50 + 6 * 7} 700 Tm ${w(v.slice(7))} Tj 1 0 0 1 50 700 Tm ${w(v.slice(0, 7))} Tj ET`,
  }),
  "lines by the operator of quotes": (v, w) => ({
    content: `BT /F1 12 Tf 14 TL 50 700 Td ${w("a line")} ' 1 1 ${w(`${v}`)} " ET`,
  }),
  "text on its side": (v, w) => ({ content: `BT /F1 12 Tf 0 1 -1 0 50 100 Tm ${w(`of ${v} so`)} Tj ET` }),
  "text that is not visible": (v, w) => ({ content: `BT 3 Tr /F1 12 Tf 50 700 Td ${w(`of ${v} so`)} Tj ET` }),
  "a form within a form": (v, w) => ({
    content: "q /A Do Q",
    resources: "/XObject << /A 6 0 R >>",
    objects: [
      stream("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /B 7 0 R >> >>", "/B Do"),
      form(shows(w(`of ${v} so`)), true),
    ],
  }),
  "a pattern": (v, w) => ({
    content: `${shows("(text)")} /Pattern cs /P scn 0 0 100 100 re f`,
    resources: "/Pattern << /P 6 0 R >>",
    objects: [
      stream(
        "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 200 50] /XStep 200 /YStep 50 /Resources << /Font << /F1 5 0 R >> >>",
        `BT /F1 12 Tf 0 0 Td ${w(v)} Tj ET`,
      ),
    ],
  }),
  "a layer that is off": (v, w) => ({
    content: `/OC /L BDC ${shows(w(`of ${v} so`))} EMC`,
    resources: "/Properties << /L 6 0 R >>",
    objects: ["<< /Type /OCG /Name (a layer) >>"],
    catalogue: "/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] /Order [6 0 R] >> >>",
  }),
  "the name of a layer": (v, w) => ({
    objects: [`<< /Type /OCG /Name ${w(`of ${v} so`)} >>`],
    catalogue: "/OCProperties << /OCGs [6 0 R] /D << /ON [6 0 R] /Order [6 0 R] >> >>",
  }),
  "a note": (v, w) => ({ annotations: [annotation(`/Subtype /Text /Contents ${w(`of ${v} so`)}`)] }),
  "the author of a note": (v, w) => ({ annotations: [annotation(`/Subtype /Text /Contents (a note) /T ${w(`by ${v} so`)}`)] }),
  "how a note looks": (v, w) => ({
    annotations: [annotation("/Subtype /Stamp /AP << /N 6 0 R >>")],
    objects: [form(`BT /F1 12 Tf 10 10 Td ${w(v)} Tj ET`)],
  }),
  "free text": (v, w) => ({ annotations: [annotation(`/Subtype /FreeText /DA (/F1 12 Tf) /Contents ${w(`of ${v} so`)}`)] }),
  "a hidden note": (v, w) => ({ annotations: [annotation(`/Subtype /Text /F 2 /Contents ${w(`of ${v} so`)}`)] }),
  "a link": (v) => ({ annotations: [annotation(`/Subtype /Link /A << /S /URI /URI (mailto:${v}) >>`)] }),
  "the value of a field": (v, w) => ({
    annotations: ["6 0 R"],
    objects: [annotation(`/Subtype /Widget /FT /Tx /T (note) /V ${w(v)}`)],
    catalogue: "/AcroForm << /Fields [6 0 R] >>",
  }),
  "the default of a field": (v, w) => ({
    annotations: ["6 0 R"],
    objects: [annotation(`/Subtype /Widget /FT /Tx /T (note) /DV ${w(v)}`)],
    catalogue: "/AcroForm << /Fields [6 0 R] >>",
  }),
  "what a field is called to people": (v, w) => ({
    annotations: ["6 0 R"],
    objects: [annotation(`/Subtype /Widget /FT /Tx /T (note) /TU ${w(`as ${v} so`)}`)],
    catalogue: "/AcroForm << /Fields [6 0 R] >>",
  }),
  "what a list offers": (v, w) => ({
    annotations: ["6 0 R"],
    objects: [annotation(`/Subtype /Widget /FT /Ch /T (note) /Opt [(a) ${w(v)}] /V (a)`)],
    catalogue: "/AcroForm << /Fields [6 0 R] >>",
  }),
  "the title": (v, w) => ({ objects: [`<< /Title ${w(`of ${v} so`)} >>`], trailer: "/Info 6 0 R" }),
  "a property of one's own": (v, w) => ({ objects: [`<< /About ${w(`of ${v} so`)} >>`], trailer: "/Info 6 0 R" }),
  "metadata in XML": (v) => ({
    objects: [
      stream(
        "/Type /Metadata /Subtype /XML",
        `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:own="urn:own"><own:who>of ${v} so</own:who></rdf:Description></rdf:RDF></x:xmpmeta>`,
      ),
    ],
    catalogue: "/Metadata 6 0 R",
  }),
  "the outline": (v, w) => ({
    objects: [
      "<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>",
      `<< /Title ${w(`of ${v} so`)} /Parent 6 0 R /Dest [3 0 R /Fit] >>`,
    ],
    catalogue: "/Outlines 6 0 R",
  }),
  "labels of pages": (v, w) => ({ catalogue: `/PageLabels << /Nums [0 << /P ${w(`of ${v} so `)} /S /D >>] >>` }),
  "a name of a place": (v, w) => ({ catalogue: `/Names << /Dests << /Names [${w(v)} [3 0 R /Fit]] >> >>` }),
  "a script": (v) => ({
    catalogue: `/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.alert("of ${v} so")) >>] >> >>`,
  }),
  "words for those who do not see": (v, w) => ({
    content: `/Span << /MCID 0 >> BDC ${shows("(text)")} EMC`,
    objects: [
      "<< /Type /StructTreeRoot /K 7 0 R /ParentTree << /Nums [0 [7 0 R]] >> >>",
      `<< /Type /StructElem /S /Figure /P 6 0 R /Pg 3 0 R /K 0 /Alt ${w(`of ${v} so`)} >>`,
    ],
    catalogue: "/MarkInfo << /Marked true >> /StructTreeRoot 6 0 R",
    page: "/StructParents 0",
  }),
  "an attached text": (v) => ({
    objects: [
      "<< /Type /Filespec /F (a.txt) /UF (a.txt) /EF << /F 7 0 R >> >>",
      stream("/Type /EmbeddedFile", `of ${v} so`, true),
    ],
    catalogue: "/Names << /EmbeddedFiles << /Names [(a) 6 0 R] >> >>",
  }),
  "an attached PDF": (v, w) => ({
    objects: [
      "<< /Type /Filespec /F (a.pdf) /UF (a.pdf) /EF << /F 7 0 R >> >>",
      stream("/Type /EmbeddedFile", Buffer.from(onePage({ content: shows(w(`of ${v} so`)) })).toString("latin1"), true),
    ],
    catalogue: "/Names << /EmbeddedFiles << /Names [(a) 6 0 R] >> >>",
  }),
  "what is said of an attachment": (v, w) => ({
    objects: [
      `<< /Type /Filespec /F (a.txt) /Desc ${w(`of ${v} so`)} /EF << /F 7 0 R >> >>`,
      stream("/Type /EmbeddedFile", "text"),
    ],
    catalogue: "/Names << /EmbeddedFiles << /Names [(a) 6 0 R] >> >>",
  }),
  "a file that a note carries": (v) => ({
    annotations: [annotation("/Subtype /FileAttachment /FS 6 0 R")],
    objects: [`<< /Type /Filespec /F (a.txt) /EF << /F 7 0 R >> >>`, stream("/Type /EmbeddedFile", `of ${v} so`)],
  }),
};
/** Where texts are of a font's letters and not of the document's own. */
const TEXTS_OF_FONTS = /text of a page|pieces|letters|quotes|side|visible|form within|pattern|layer that|looks|attached PDF/;

const { classify } = createClassifier();
const remarks = remarksOf(console);

describe("readPdf", () => {
  test.each(Object.entries(PLACES))("tells a value in %s, however it is spelled", async (name, page) => {
    const words = fc.record({
      who: fc.stringMatching(/^[a-z]{3,8}\.[a-z]{3,8}$/),
      where: fc.constantFrom("example.org", "mail.example.net"),
    });
    const spellings: readonly Spelling[] = TEXTS_OF_FONTS.test(name)
      ? ["literal", "octal", "hex"]
      : ["literal", "octal", "hex", "utf-16"];
    await fc.assert(
      fc.asyncProperty(words, fc.constantFrom(...spellings), fc.boolean(), async ({ who, where }, spelling, packed) => {
        const value = `${who}@${where}`;
        const file = onePage({ ...page(value, (text) => spelled(text, spelling)), packed });
        const told = await readPdf(file, { pages: 10 }, remarks);
        if ("refused" in told) throw new Error(told.refused);
        expect(told.unread).toEqual([]);
        expect(told.texts.map(({ text }) => text).filter((text) => text.includes(value))).not.toEqual([]);
        expect(told.texts.flatMap(({ text }) => classify(text).tags)).toContain("EMAIL");
      }),
      { numRuns: 10, seed: 7 },
    );
  });
});

/** What nobody reads, and what is said of it. */
const UNREAD: Readonly<Record<string, readonly [Page, RegExp]>> = {
  "a picture beside text": [
    {
      content: `${shows("(a caption)")} q 100 0 0 100 0 0 cm /I Do Q`,
      resources: "/XObject << /I 6 0 R >>",
      objects: [stream("/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8", "abcd")],
    },
    /^page 1: a picture$/,
  ],
  "a picture within the page": [
    { content: "q 100 0 0 100 0 0 cm BI /W 2 /H 2 /CS /G /BPC 8 ID abcd\nEI Q" },
    /^page 1: a picture$/,
  ],
  "a mask": [
    {
      content: "q 100 0 0 100 0 0 cm /I Do Q",
      resources: "/XObject << /I 6 0 R >>",
      objects: [stream("/Type /XObject /Subtype /Image /ImageMask true /Width 8 /Height 2 /BitsPerComponent 1", "ab")],
    },
    /^page 1: a picture$/,
  ],
  "drawings without text": [{ content: "0 0 m 100 100 l 30 40 l S" }, /^page 1: drawings and no text$/],
  "letters that the file does not explain": [
    {
      content: "BT /F2 12 Tf 50 700 Td <000100020003000400050006> Tj ET",
      resources: "/Font << /F1 5 0 R /F2 6 0 R >>",
      objects: [
        "<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Own /Encoding /Identity-H /DescendantFonts [7 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 8 0 R /DW 600 >>",
        "<< /Type /FontDescriptor /FontName /AAAAAA+Own /Flags 4 /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 /FontBBox [0 -200 1000 800] >>",
      ],
    },
    /^page 1: (?:letters of which|a part that)/,
  ],
  "a film": [
    { annotations: ["<< /Type /Annot /Subtype /Screen /Rect [0 0 9 9] /T (film) >>"] },
    /^page 1: a part that is damaged or of a kind that nobody reads$/,
  ],
  "an attachment that is no text": [
    {
      objects: ["<< /Type /Filespec /F (a.bin) /EF << /F 7 0 R >> >>", stream("/Type /EmbeddedFile", "\u0000\u0001\u00ff")],
      catalogue: "/Names << /EmbeddedFiles << /Names [(a) 6 0 R] >> >>",
    },
    /^attachment 1: no text$/,
  ],
  "a form of XFA": [
    {
      objects: [stream("", "<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'></xdp:xdp>")],
      catalogue: "/AcroForm << /Fields [] /XFA 6 0 R >>",
    },
    /^document: a form of XFA$/,
  ],
  "a signature": [
    {
      annotations: ["6 0 R"],
      objects: [
        annotation("/Subtype /Widget /FT /Sig /T (sign) /V 7 0 R"),
        "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /Name (Ada) /Contents <00> /ByteRange [0 1 2 3] >>",
      ],
      catalogue: "/AcroForm << /SigFlags 3 /Fields [6 0 R] >>",
    },
    /^document: who signed it$/,
  ],
  "a stream that is damaged": [
    {
      objects: [stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Filter /FlateDecode", "no such thing")],
      content: "/X Do",
      resources: "/XObject << /X 6 0 R >>",
    },
    /^page 1: a part that is damaged/,
  ],
};

const inMemory = (bytes: Uint8Array) => ({
  byteLength: bytes.length,
  read: async (start: number, end: number) => bytes.slice(start, end),
});

describe("classifyPdf", () => {
  test.each(Object.entries(UNREAD))("%s is not harmless", async (_, [page, said]) => {
    const told = await readPdf(onePage(page), { pages: 10 }, remarks);
    if ("refused" in told) throw new Error(told.refused);
    expect(told.unread.filter((one) => said.test(one))).not.toEqual([]);
  });

  test("tells parts with their tiers, what is unread and no value; what is unread makes it all of the highest tier", async () => {
    const clear = await classifyPdf(inMemory(onePage({ content: shows("(the weather is fine)") })));
    expect(clear).toMatchObject({ pages: 1, unread: [], tier: "PUBLIC" });
    expect(clear.parts.map(({ part }) => part)).toEqual(["document", "page 1"]);
    const form = await classifyPdf(
      inMemory(
        onePage({
          content: "BT /F1 12 Tf 50 302 Td (SSN:) Tj ET",
          annotations: ["<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (536228726) /Rect [90 300 200 320] >>"],
        }),
      ),
    );
    expect(form.tags).toContain("SSN");
    expect(JSON.stringify(form)).not.toContain("536228726");
    const picture = await classifyPdf(inMemory(onePage((UNREAD["a picture beside text"] as readonly [Page, RegExp])[0])));
    expect(picture).toMatchObject({ tier: "RESTRICTED", unread: ["page 1: a picture"] });
  });

  test("refuses by name what it does not read at all", async () => {
    const refusal = (file: Uint8Array, options = {}) =>
      classifyPdf(inMemory(file), options).then(
        () => "read",
        (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
      );
    expect(await refusal(new TextEncoder().encode("no PDF"))).toBe("file_invalid: not a PDF that can be read");
    expect(await refusal(new Uint8Array((64 << 20) + 1))).toBe("file_invalid: larger than 64 MiB");
    const key = `<${"0".repeat(64)}>`;
    const encrypted = onePage({
      trailer: `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >>`,
    });
    expect(await refusal(encrypted)).toBe("file_invalid: it is encrypted");
    const kids = Array.from({ length: 5001 }, () => "3 0 R").join(" ");
    const many = pdfOf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Kids [${kids}] /Count 5001 >>`,
      "<< /Type /Page /Parent 2 0 R >>",
      COURIER,
    ]);
    expect(await refusal(many)).toBe("file_invalid: more than 5000 pages");
    // A page that is read for longer than any deadline: each of its pieces shows ten of the next.
    const bomb = onePage({
      content: "/X0 Do",
      resources: "/XObject << /X0 6 0 R >>",
      objects: Array.from({ length: 12 }, (_, i) =>
        stream(
          `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> /XObject << /X ${i === 11 ? "5" : String(7 + i)} 0 R >> >>`,
          i === 11 ? shows("(x)") : "/X Do ".repeat(10),
        ),
      ),
    });
    expect(await refusal(bomb, { deadline: 3000 })).toBe("file_invalid: reading it takes too long");
  });

  test("any bytes are refused, or read without a value being told", async () => {
    const whole = onePage((PLACES["a form within a form"] as (typeof PLACES)[string])("ada@example.org", (text) => `(${text})`));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (flips) => {
          const bytes = whole.slice();
          for (const [at, byte] of flips) bytes[at] = byte;
          const told = await readPdf(bytes, { pages: 10 }, remarks);
          expect(JSON.stringify("refused" in told ? told : told.unread)).not.toContain("ada@");
        },
      ),
      { numRuns: 100, seed: 11 },
    );
  });
});
