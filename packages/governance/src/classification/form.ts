import { csvRows } from "./columns/csv.ts";

/** What kind of text a query is. */
export type QueryForm = "sql" | "query" | "json" | "csv" | "text";

/** First words of statements; those that are verbs of plain language too, with what follows them in SQL. */
const SQL_START =
  /^\s*(?:\(\s{0,9}){0,9}(?:select|with|insert|update|delete|merge|copy|unload|create|alter|drop|truncate|explain|from|use|replace|call|grant|describe|declare|prepare|exec(?:ute)?|cache|begin|set|values|table|analyze|pragma|attach|start\s+transaction|show\s+(?:full\s+|extended\s+)?(?:tables|databases|schemas|columns|fields|create|views|functions|procedure|grants|index(?:es)?|keys|partitions|variables|status|processlist|catalogs|roles|users\s*;?\s*$)|export\s+(?:table|data)|import\s+(?:external\s+)?(?:table|from|foreign)|load\s+data|lock\s+tables?|bulk\s+insert|handler\s+\S{1,100}\s+(?:read|open)|if\s+(?:not\s+)?exists)\b|^\s*(?:if|while)\s{0,9}(?:[@(]|\w{1,60}\s{0,9}[=<>])|^\s*(?:do\s+(?:\$|'|language\b)|\\copy\b)/i;

/** True when the text begins like SQL; whether it is, the parser says. */
export function beginsLikeSql(text: string): boolean {
  return SQL_START.test(text.replace(/^(?:\s*--[^\n]*\n|\s*\/\*[^*]{0,2000}\*\/|\s*;|\ufeff)+/, ""));
}

/** The first line that tells a Dockerfile from a query: an image with its tag, digest or platform, which no database takes for a table's name. */
const IMAGE =
  /^(?:\s*(?:#[^\n]{0,400}|ARG\s[^\n]{1,400})?\n){0,50}\s*FROM\s{1,9}(?:--platform=\S{1,100}\s{1,9})?[\w.$][\w./${}-]{0,200}(?::[\w][\w.${}-]{0,128}|@sha256:[0-9a-f]{6,64}|(?=\s{1,9}(?:AS\s{1,9}[\w.-]{1,60}\s{0,9})?\n))(?:\s{1,9}AS\s{1,9}[\w.-]{1,60})?\s{0,9}(?:\n|$)/;
/** What lines of one begin with. */
const INSTRUCTION =
  /^\s*(?:FROM|RUN|CMD|LABEL|MAINTAINER|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG|ONBUILD|STOPSIGNAL|HEALTHCHECK|SHELL)\s/;

/** True for a Dockerfile: what stands in it that is a query is found as in any code. */
export function isDockerfile(text: string): boolean {
  if (!/^\s*(?:#|ARG\s|FROM\s)/.test(text) || !IMAGE.test(text)) return false;
  const lines = text
    .replace(/\\[ \t]*\n/g, " ")
    .split("\n")
    .filter((line) => /^\s*[^#\s]/.test(line));
  return lines.every((line) => INSTRUCTION.test(line));
}

/** SQL in quotes inside another text: source code, a log line, a procedure call. Only texts that begin like a whole statement. */
export function quotedSql(text: string): string[] {
  return [...text.matchAll(QUOTED_SQL)].slice(0, MAX_QUOTED).map((match) => match[2] ?? "");
}
/** A line of Python that takes names out of a module; behind the name of a table a database takes words of SQL alone. */
const IMPORT =
  /^\s*from\s{1,9}\.{0,3}[\w.]{0,200}\s{1,9}import\s{1,9}(?!(?:where|limit|order|group|join|left|right|inner|cross|full|natural|union|intersect|except|select|using|on|window|having|qualify|offset|tablesample|pivot|unpivot|semi|anti|asof|positional|for|lateral)\b)(?:[\w*]|\(\s*\w)/;

/** True for a module of Python that begins with what it imports: queries in it are found as in any code. */
export function isModule(text: string): boolean {
  return IMPORT.test(text);
}

/** The rest of a text from where a statement begins inside it, if one does. */
export function embeddedSql(text: string): string | undefined {
  const at = /\b(?:from|into|set|exec(?:ute)?)\b/i.test(text) ? text.search(EMBEDDED) : -1;
  const found = at < 0 ? text.search(CALLED) : at;
  return found < 0 ? undefined : text.slice(found);
}
/** A query that calls a function, and needs no table. */
const CALLED = /(?<![\w'"`])(?:SELECT|select|EXEC|CALL)\s{1,9}[\w.]{1,100}\((?!(?:e?n?s|en|in)\))/;
const EMBEDDED =
  /(?<![\w'"`.])(?:select\b(?=[^;]{1,400}?\bfrom\b)|insert\s{1,9}into\b|delete\s{1,9}from\b|update\s{1,9}\S{1,60}\s{1,9}set\b|merge\s{1,9}into\b|exec(?:ute)?\s{0,9}\()/i;

const QUOTED_SQL = /(["'`])(\s{0,20}(?:select|insert\s{1,9}into|update|delete\s{1,9}from|with|merge|copy)\s[^"'`]{5,4000})\1/gi;
const MAX_QUOTED = 50;

/** The JSON value that a text is, if it is an object or an array. */
export function jsonOf(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The rows of a small CSV text (RFC 4180, comma, semicolon or tab), if it is one: at least two rows of the same width, a header of words. */
export function csvOf(text: string): readonly (readonly string[])[] | undefined {
  const firstLine = text.slice(0, text.indexOf("\n") < 0 ? 0 : text.indexOf("\n")).trim();
  const delimiter = [",", ";", "\t", "|"].find((d) => firstLine.split(d).length > 1);
  if (delimiter === undefined) return undefined;
  const header = firstLine.split(delimiter).map((cell) => cell.trim().replace(/^"|"$/g, ""));
  if (
    !header.every((cell) => /^[\p{L}_][\p{L}\p{N}_ .()#/-]{0,63}$/u.test(cell)) ||
    header.some((cell) => cell.split(" ").length > 4)
  )
    return undefined;
  const rows = csvRows(text, delimiter).filter((row) => row.length > 1 || row[0] !== "");
  return rows.length >= 2 && rows.every((row) => row.length === header.length) ? rows : undefined;
}
