import type { XmlElement, XmlText } from "./xml-texts.ts";

/** Parts that are copies of data of cells, and cannot be redacted with them. */
export const COPIES = /(?:^|\/)(?:pivotCache|revisions|richData)/i;
/** Copies of data of cells that a part can do without, by its root: caches of charts and of other workbooks, what filters and scenarios compare with. */
const TAKEN_OUT: Readonly<Record<string, ReadonlySet<string>>> = {
  chartSpace: new Set(["numCache", "strCache", "multiLvlStrCache", "lvl"]),
  externalLink: new Set(["sheetDataSet", "values"]),
  worksheet: new Set(["filterColumn", "scenarios"]),
  table: new Set(["filterColumn"]),
};
/** Elements that hold a formula outside of cells. */
const FORMULAS: ReadonlySet<string> = new Set(
  "f formula formula1 formula2 definedName calculatedColumnFormula totalsRowFormula oldFormula".split(" "),
);
/** Short numbers, places of cells, and lists of these, which most attributes are. */
const SHORT =
  /^(?:-?\d{1,6}(?:\.\d{1,6})?|\d{1,5}:\d{1,5}|\$?[A-Z]{1,3}\$?\d{1,7}(?::\$?[A-Z]{1,3}\$?\d{1,7})?(?: [A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?)*)$/;
const GUID = /^\{[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}$/;
/** A word of a schema. */
const WORD = /^[a-z][A-Za-z0-9]*$/;
/** Attributes that hold what people wrote, however it looks. */
const LABELS: ReadonlySet<string> = new Set(
  "text name displayName title descr prompt promptTitle error errorTitle tooltip display author userName comment description caption alt tag".split(
    " ",
  ),
);
/** What runs of one text stand in. */
const RUNS_IN: ReadonlySet<string> = new Set(["si", "is", "text", "p"]);
/** Elements of text boxes that cut no text. */
const INLINE: ReadonlySet<string> = new Set("a b i u s em strong font span sup sub small big tt code".split(" "));
/** Elements that say where a drawing is. */
const ANCHORS: ReadonlySet<string> = new Set("col row colOff rowOff Row Column Anchor".split(" "));
const AGREED_URI =
  /^(?:https?:\/\/(?:schemas\.(?:openxmlformats|microsoft|mac\.microsoft)\.(?:org|com)|purl\.o(?:clc\.o)?rg|www\.w3\.org)\/|urn:schemas-microsoft-com:|application\/)[A-Za-z0-9/.+_:#-]*$/;

export function rootOf(texts: readonly XmlText[]): XmlElement | undefined {
  let element = texts.find(({ element }) => element !== undefined)?.element;
  while (element?.parent !== undefined) element = element.parent;
  return element;
}

/** True for a part that no schema of Office Open XML says the names of: data that a program keeps in the file. */
export function isForeign(part: string): boolean {
  return !/^(?:(?:xl|docProps|_rels)\/|\[Content_Types\]\.xml$)|\.rels$/i.test(part);
}

/** Characters that Excel takes in texts that are shorter than cells may be: what it is told of validations, links and names (its specifications and limits), by element and attribute. */
const MOST: Readonly<Record<string, number>> = {
  "dataValidation promptTitle": 32,
  "dataValidation errorTitle": 32,
  "dataValidation prompt": 255,
  "dataValidation error": 225,
  "hyperlink tooltip": 255,
  "definedName comment": 255,
};
const MOST_OF_HEADER = 255;

/** How long a text may be that is no cell's, where Excel says so. */
export function mostOf(text: XmlText): number | undefined {
  return isHeaderOrFooter(text) ? MOST_OF_HEADER : MOST[`${text.element?.name} ${text.attribute}`];
}

/** True for the name of a range or a table, which formulas go by. */
export function isNameInFormulas({ attribute, element }: XmlText, root: string): boolean {
  if (root === "workbook") return element?.name === "definedName" && attribute === "name";
  return root === "table" && element?.name === "table" && (attribute === "name" || attribute === "displayName");
}

/** True for a name that Excel takes for a range or a table (ECMA-376, 18.2.5): no place of a cell, and nothing but letters, digits and a few signs. */
export function isRangeName(name: string): boolean {
  if (/^(?:[a-z]{1,3}\d+|r\d*c?\d*|c\d*)$/i.test(name)) return false;
  return /^[\p{L}_\\][\p{L}\p{N}_.\\?]{0,254}$/u.test(name);
}

/** True for a name that Excel takes for a sheet. */
export function isSheetName(name: string): boolean {
  return /^(?!')[^:\\/?*[\]]{1,31}(?<!')$/.test(name);
}

/** The element around a text that is a copy of data, and is taken out. */
export function copyAround(root: string, { element }: XmlText): XmlElement | undefined {
  const copies = TAKEN_OUT[root];
  let found: XmlElement | undefined;
  if (copies !== undefined)
    for (let around = element; around !== undefined; around = around.parent) if (copies.has(around.name)) found = around;
  return found;
}

export function isFormula({ element, attribute }: XmlText): boolean {
  return attribute === undefined && FORMULAS.has(element?.name ?? "");
}

export function isHeaderOrFooter({ element, attribute }: XmlText): boolean {
  return attribute === undefined && /^(?:odd|even|first)(?:Header|Footer)$/.test(element?.name ?? "");
}

/**
 * How a text may be treated. `fixed`: other parts and every reader go by it, so that a value in it is a reason to refuse the part. `form`: a number or place, which is no copy of a value. `word`: one of the schema, which is no copy of a value either. `font`: the name of a font, which is read like that of a person often. `read`: anything else. What an attribute means is known in parts of
 * Office Open XML only, by its own element.
 */
export function placeOf(part: string, root: string, text: XmlText): "fixed" | "form" | "word" | "font" | "read" {
  const { attribute, element, value } = text;
  if (attribute === undefined) {
    if (!isForeign(part) && ANCHORS.has(element?.name ?? "") && /^[\d\s,-]{1,80}$/.test(value)) return "form";
    return "read";
  }
  if (/^xmlns(?::|$)/.test(attribute)) return "fixed";
  if (isForeign(part)) return "read";
  if (root === "Types") return "fixed";
  if (root === "Relationships") {
    const isOutside = element?.attributes.get("TargetMode")?.value === "External";
    return attribute === "Target" && isOutside ? "read" : "fixed";
  }
  if (/^(?:r:(?:id|embed|link|pict|href|dm|lo|qs|cs)|o:relid|(?:mc:)?(?:Ignorable|ProcessContent)|Requires|uri)$/.test(attribute))
    return GUID.test(value) ? "form" : "fixed";
  if (attribute === "script" && root === "theme" && /^[A-Z][a-z]{3}$/.test(value)) return "form";
  if (attribute === "typeface" && /^[\p{L}\p{M}\p{N} +-]{0,40}$/u.test(value) && !/\d{4}/.test(value)) return "font";
  if (LABELS.has(attribute) || (attribute === "val" && root === "worksheet" && element?.parent?.name !== "rPr")) return "read";
  if (SHORT.test(value) || GUID.test(value) || value.length < 4) return "form";
  return WORD.test(value) ? "word" : "read";
}

/** What stands in the place of a value that must be a time, a number or a truth to be read: properties of the file. */
export function formInstead(element: string, root: string): string | undefined {
  if (root !== "coreProperties" && root !== "Properties") return undefined;
  if (/^(?:created|modified|lastPrinted|date|filetime)$/.test(element)) return "1980-01-01T00:00:00Z";
  if (/^(?:u?i[1248]|u?int|r[48]|decimal|TotalTime|Pages|Words|Characters|DocSecurity|revision)$/.test(element)) return "0";
  return element === "bool" ? "false" : undefined;
}

/** True for names that every producer writes, such as those of namespaces. */
export function isAgreedName(value: string): boolean {
  return AGREED_URI.test(value);
}

/** The element whose texts are read as one with this one: runs of a text, and what stands between elements; of phonetic runs apart from what they are spoken for. */
export function readWith({ element }: XmlText): { readonly within: XmlElement | undefined; readonly spoken: boolean } {
  let spoken = false;
  if (element?.name === "t") {
    for (let around = element.parent; around !== undefined; around = around.parent) {
      if (around.name === "rPh") spoken = true;
      if (RUNS_IN.has(around.name)) return { within: around, spoken };
    }
  }
  let within = element;
  while (within?.parent !== undefined && within.name !== "v" && (INLINE.has(within.name) || within.parent.hasText))
    within = within.parent;
  return { within, spoken };
}

/** Texts that are read as one; the others are read alone. */
export function groupsOf(texts: readonly XmlText[]): readonly (readonly XmlText[])[] {
  const groups: XmlText[][] = [];
  const [said, read] = [new Map<XmlElement, XmlText[]>(), new Map<XmlElement, XmlText[]>()];
  for (const text of texts) {
    if (text.attribute !== undefined) {
      groups.push([text]);
      continue;
    }
    const { within, spoken } = readWith(text);
    const of = spoken ? said : read;
    const known = within === undefined ? undefined : of.get(within);
    if (known !== undefined) known.push(text);
    else {
      const group = [text];
      groups.push(group);
      if (within !== undefined) of.set(within, group);
    }
  }
  return groups;
}
