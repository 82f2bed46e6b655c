import type { OwnerCosts } from "./owner-costs.ts";

/** Owners beyond which those without anything waiting are forgotten. */
const REMEMBERED = 1024;

interface Queue<Task> {
  readonly owner: string;
  tasks: Task[];
  /** How many at the front are taken; the array is cut when all are. */
  taken: number;
}

/** Tasks in the order of their coming for each owner, and of the owners by turns. */
export class OwnerQueues<Task extends { readonly owner: string }> {
  #queues = new Map<string, Queue<Task>>();
  #turns: Queue<Task>[] = [];
  size = 0;

  /** How many tasks of an owner wait. */
  waiting(owner: string): number {
    const queue = this.#queues.get(owner);
    return queue === undefined ? 0 : queue.tasks.length - queue.taken;
  }

  /** Whether something waits of an owner that `may` names. */
  hasOwner(may: (owner: string) => boolean): boolean {
    return this.#turns.some(({ owner }) => may(owner));
  }

  add(task: Task): void {
    const queue = this.#queueOf(task.owner);
    if (queue.tasks.length === queue.taken) this.#turns.push(queue);
    queue.tasks.push(task);
    this.size++;
  }

  /** Puts a task before all others of its owner. */
  putBack(task: Task): void {
    const queue = this.#queueOf(task.owner);
    if (queue.tasks.length === queue.taken) this.#turns.push(queue);
    queue.tasks = [task, ...queue.tasks.slice(queue.taken)];
    queue.taken = 0;
    this.size++;
  }

  /**
   * Up to `most` tasks of owners that `may` names, one of each owner by turns, those first who cost less; of owners who cost much and of others
   * never together, as what is taken together is done one after the other.
   */
  take(most: number, may: (owner: string) => boolean, costs?: OwnerCosts): Task[] {
    const out: Task[] = [];
    const passed: Queue<Task>[] = [];
    if (costs !== undefined && this.#turns.length > 1) this.#turns.sort((a, b) => costs.of(a.owner) - costs.of(b.owner));
    while (out.length < most) {
      const queue = this.#turns.shift();
      if (queue === undefined) break;
      const apart = out[0] !== undefined && costs?.isDear(queue.owner) !== costs?.isDear(out[0].owner);
      const task = !apart && may(queue.owner) ? queue.tasks[queue.taken] : undefined;
      if (task === undefined) {
        passed.push(queue);
        continue;
      }
      queue.taken++;
      this.size--;
      out.push(task);
      if (queue.taken < queue.tasks.length) this.#turns.push(queue);
      else {
        queue.tasks = [];
        queue.taken = 0;
      }
    }
    this.#turns = [...passed, ...this.#turns];
    return out;
  }

  #queueOf(owner: string): Queue<Task> {
    const known = this.#queues.get(owner);
    if (known !== undefined) return known;
    // A new table now and then: one that is entered and left by each request keeps what was in it.
    if (this.#queues.size >= REMEMBERED) this.#queues = new Map(this.#turns.map((queue) => [queue.owner, queue]));
    const queue: Queue<Task> = { owner, tasks: [], taken: 0 };
    this.#queues.set(owner, queue);
    return queue;
  }
}
