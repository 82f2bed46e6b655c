import type { Comment } from "../syntax/ast.ts";

/** A second comment wants to end a line that has one: what spans the line keeps its text. */
export class CrowdedLine extends Error {}

/** Lines with indentation, and the comments that are yet to be written, each before or behind the code of its row. */
export class LineWriter {
  protected out = "";
  protected level = 0;
  /** In the middle of a line. */
  protected inline = false;
  /** Comments not yet written, in the order of the source. */
  protected comments: readonly Comment[] = [];
  /** Goes to the end of the line that is being written. */
  protected beforeEnd: Comment | undefined;
  #delayed = false;

  protected write(text: string): void {
    this.out += text;
  }

  protected startLine(): void {
    this.inline = true;
    this.out += "\t".repeat(this.level);
  }

  protected endLine(): void {
    this.inline = false;
    if (this.beforeEnd !== undefined && !this.#delayed) {
      this.out += ` ${commentText(this.beforeEnd)}`;
      this.beforeEnd = undefined;
    }
    this.#delayed = false;
    this.out += "\n";
  }

  /** The comment of this row belongs to the next line's end, not to that of the opening bracket. */
  protected delayComment(): void {
    this.#delayed = true;
  }

  protected blankLine(): void {
    if (this.inline) this.endLine();
    this.out += "\n";
  }

  protected writeLine(text: string): void {
    if (!this.inline) this.startLine();
    this.out += text;
    this.endLine();
  }

  /** Writes the comments of the rows before `row` and keeps that of `row` for the end of the line. Throws {@link CrowdedLine}. */
  protected commentsBefore(row: number): void {
    const { comments } = this;
    if (comments.length === 0) return;
    const before = comments.filter(({ loc }) => loc.row < row);
    const at = comments.findLast(({ loc }) => loc.row === row);
    if (before.length > 0 || at !== undefined) this.comments = comments.filter(({ loc }) => loc.row > row);
    this.writeComments(before);
    const last = before.at(-1);
    if (last !== undefined && row - last.loc.row > 1) this.blankLine();
    if (at === undefined) return;
    if (this.beforeEnd !== undefined) {
      this.beforeEnd = undefined;
      throw new CrowdedLine();
    }
    this.beforeEnd = at;
  }

  protected writeComments(comments: readonly Comment[]): void {
    comments.forEach((comment, i) => {
      const previous = comments[i - 1];
      if (previous !== undefined && comment.loc.row - previous.loc.row > 1) this.blankLine();
      this.writeLine(commentText(comment));
    });
  }
}

export function commentText({ text }: Comment): string {
  return `#${text.trimEnd()}`;
}
