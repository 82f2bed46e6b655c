/** The text of a module with the addresses of the packages that it imports: it may stand anywhere. */
export function addressed(text: string): string {
  return text.replace(/ from "(@seneschal\/[^"]+)"/g, (_, name: string) => ` from "${import.meta.resolve(name)}"`);
}

/** What the text of a module exports. */
export function importModule<T>(text: string): Promise<T> {
  return import(`data:text/javascript,${encodeURIComponent(addressed(text))}`);
}
