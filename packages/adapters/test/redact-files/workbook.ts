import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

/** A workbook that shows a value wherever one can show a text, as Excel writes it or may read it. */
export function workbookOf(value: string, number: string, spell: (text: string) => string): Uint8Array {
  const v = spell(value);
  const half = Math.ceil(value.length / 2);
  const [a, b] = [spell(value.slice(0, half)), spell(value.slice(half))];
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const sheet = (rows: string, more = "") => `<worksheet ${main}><sheetData>${rows}</sheetData>${more}</worksheet>`;
  return zipped({
    "[Content_Types].xml": `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "docProps/core.xml": `<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc"><dc:title>list of ${v} here</dc:title></cp:coreProperties>`,
    "docProps/custom.xml": `<Properties xmlns:vt="urn:vt"><property name="about ${v} too"><vt:lpwstr>of ${v} too</vt:lpwstr></property></Properties>`,
    "xl/workbook.xml": `<workbook ${main}><sheets><sheet name="all" sheetId="1" r:id="rId1"/><sheet name="of ${v} so" state="hidden" sheetId="2" r:id="rId2"/></sheets><definedNames><definedName name="who">"it is ${v} so"</definedName></definedNames></workbook>`,
    "xl/sharedStrings.xml": `<sst ${main} count="4" uniqueCount="4"><si><t/></si><si><t>note</t></si><si><t>write to ${v} now</t></si><si><r><t xml:space="preserve">it is ${a}</t></r><r><rPr/><t>${b} they say</t></r></si><si><t>ssn</t></si></sst>`,
    "xl/worksheets/sheet1.xml": sheet(
      `<row r="1"><c r="A1" t="s"><v>1</v></c><c r="B1" t="s"><v>4</v></c></row>
       <row r="2"><c r="A2" t="s" s="3"><v>2</v></c><c r="B2" s="1"><v>536228726</v></c></row>
       <row r="3"><c r="A3" t="s"><v>3</v></c><c r="B3"><v>7</v></c></row>
       <row r="4"><c r="A4" t="str"><f>CONCATENATE("to ${v} and ",A1)</f><v>to ${v} and so</v></c></row>
       <row r="5"><c r="A5" t="inlineStr"><is><t>so it is ${v} here</t></is></c></row>
       <row r="6"><c r="A6"><v>${number}</v></c><c r="C6" t="n"><v>42</v></c></row>`,
      `<dataValidations><dataValidation prompt="ask ${v} first" sqref="A1"/></dataValidations><headerFooter><oddHeader>&amp;Lfor ${v} only</oddHeader></headerFooter>`,
    ),
    "xl/worksheets/sheet2.xml": sheet(`<row r="1"><c r="A1" t="inlineStr"><is><t>hidden: ${v} here</t></is></c></row>`),
    "xl/worksheets/_rels/sheet1.xml.rels": `<Relationships xmlns="urn:r"><Relationship Id="rId1" Type="urn:hyperlink" Target="mailto:${v}" TargetMode="External"/></Relationships>`,
    "xl/comments1.xml": `<comments ${main}><authors><author>from ${v} it is</author></authors><commentList><comment ref="A1" authorId="0"><text><r><t>ask ${a}</t></r><r><t>${b} about it</t></r></text></comment></commentList></comments>`,
    "customXml/item1.xml": `<?xml version="1.0" encoding="utf-8" standalone="yes"?><x><![CDATA[write to ${value} now]]></x>`,
  });
}

export function zipped(parts: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));
}

export function unzipped(bytes: Uint8Array): Record<string, string> {
  return Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, part]) => [name, strFromU8(part)]));
}

/** What a reader sees: without markup, references and escapes resolved, whatever stands one behind the other. */
export function seen(xml: string): string {
  return xml
    .replaceAll(/<!\[CDATA\[([\s\S]*?)\]\]>/g, "$1")
    .replaceAll(/<(?:r|rPr|t|\/t|\/r)(?: [^>]*)?\/?>/g, "")
    .replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
