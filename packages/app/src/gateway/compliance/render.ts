import type { Json } from "@seneschal/core";
import { csvField } from "../audit/export.ts";

/** A report as rows `path,value`, RFC 4180: every figure of the JSON is one row, in its order. */
export function reportCsv(report: Json): string {
  const rows = ["path,value"];
  const walk = (path: string, value: Json): void => {
    const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : undefined;
    if (entries === undefined || entries.length === 0) rows.push(`${csvField(path)},${csvField(scalar(value))}`);
    else for (const [key, item] of entries) walk(path === "" ? String(key) : `${path}.${key}`, item as Json);
  };
  walk("", report);
  return `${rows.join("\r\n")}\r\n`;
}

/**
 * A report as one self-contained page that prints well; nothing in it is loaded or run. Facts stand in two columns, lists of
 * things in tables, one row each; every part of the data has its heading.
 */
export function reportHtml(title: string, report: Json): string {
  const { data = {}, ...facts } = isObject(report) ? report : {};
  const parts = isObject(data) ? Object.entries(data) : [];
  const figures = parts.filter(([, value]) => !isObject(value) && !Array.isArray(value));
  const sections = parts.filter(([, value]) => isObject(value) || Array.isArray(value));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#111;background:#fff}table{border-collapse:collapse;margin:.25rem 0}
th,td{border:1px solid #999;padding:.25rem .5rem;text-align:left;vertical-align:top}th{background:#eee}
thead{display:table-header-group}h2{margin:1.5rem 0 .25rem;font-size:1.1rem}h3{margin:.75rem 0 .25rem;font-size:1rem}section{border-left:3px solid #999;padding-left:1rem;margin:.5rem 0 1.5rem}tr{break-inside:avoid}</style></head>
<body><h1>${escapeHtml(title)}</h1>${html(facts)}${figures.length === 0 ? "" : `<h2>Figures</h2>${html(Object.fromEntries(figures))}`}
${sections.map(([key, value]) => `<h2>${label(key)}</h2>${html(value)}`).join("\n")}</body></html>
`;
}

function html(value: Json): string {
  if (Array.isArray(value)) return listHtml(value as readonly Json[]);
  if (!isObject(value)) return escapeHtml(scalar(value));
  const rows = Object.entries(value).map(([key, item]) => `<tr><th scope="row">${label(key)}</th><td>${html(item)}</td></tr>`);
  return rows.length === 0 ? "none" : `<table>${rows.join("")}</table>`;
}

/** Things of one kind are a table with a column for each field; one that holds lists of others is a section of its own. */
function listHtml(items: readonly Json[]): string {
  if (items.length === 0) return "none";
  if (!items.every(isObject)) return items.map(html).join(", ");
  if (items.some((item) => Object.values(item).some(holdsThings))) return items.map(sectionHtml).join("");
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const head = columns.map((column) => `<th scope="col">${label(column)}</th>`).join("");
  const rows = items.map((item) => `<tr>${columns.map((column) => `<td>${html(item[column] ?? null)}</td>`).join("")}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

const holdsThings = (value: Json): boolean => Array.isArray(value) && value.some((item) => isObject(item as Json));

function sectionHtml(item: Record<string, Json>): string {
  const entries = Object.entries(item);
  const facts = Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)));
  const lists = entries.filter(([, value]) => Array.isArray(value));
  return `<section>${html(facts)}${lists.map(([key, value]) => `<h3>${label(key)}</h3>${html(value)}`).join("")}</section>`;
}

/** `last_access` as `Last access`; the name of an event as it is. */
function label(key: string): string {
  if (key.includes(".")) return escapeHtml(key);
  const words = key.replaceAll("_", " ");
  return escapeHtml(words.charAt(0).toUpperCase() + words.slice(1));
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function scalar(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? "none" : String(value);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
