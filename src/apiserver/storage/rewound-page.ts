import type { LogEntry } from './log-entry.js';
import { isAbout } from './log-entry.js';
import type { StoredText } from './object-text.js';
import { fieldOf } from './object-text.js';
import type { Revision } from './storage.js';

/** Objects of a list in its order, by `namespace\0name`. */
interface ListedText extends StoredText {
  readonly field: string;
}

/** A stretch of the present: every object behind `after` up to the last of `items`; up to the end if `remaining` is 0. */
export interface PresentPage {
  readonly after: string | undefined;
  readonly items: readonly ListedText[];
  /** How many objects are behind the last of `items`. */
  readonly remaining: number;
}

interface RewoundPage {
  readonly items: readonly ListedText[];
  readonly remaining: number;
  /** The place at which the next page begins; absent at the end. */
  readonly end?: string;
}

interface Change {
  /** The object at the list's revision; `undefined` when it was not there. */
  readonly then: StoredText | undefined;
  existsNow: boolean;
}

/** The changes of one list since its revision, so that a later page can show the state of the first. */
export class ChangesSince {
  private readonly byField = new Map<string, Change>();
  private known: Revision;

  constructor(
    private readonly scope: { readonly resource: string; readonly namespace?: string },
    readonly revision: Revision,
  ) {
    this.known = revision;
  }

  /** Up to which revision the changes are known. */
  get upTo(): Revision {
    return this.known;
  }

  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.known = entry.revision;
      if (!isAbout(entry, this.scope)) continue;
      const existsNow = entry.type !== 'deleted';
      const change = this.byField.get(fieldOf(entry.key));
      // The first write behind the revision knows what was there before it; later ones do not matter for that.
      if (change) change.existsNow = existsNow;
      else this.byField.set(fieldOf(entry.key), { then: entry.previous, existsNow });
    }
  }

  /** The page as it was at `revision`, at most `limit` objects of it. */
  rewind(page: PresentPage, limit: number): RewoundPage {
    const endOfPage = page.remaining > 0 ? page.items.at(-1)?.field : undefined;
    const kept = page.items.filter((item) => !this.byField.has(item.field));
    const restored = this.restored(page.after, endOfPage);
    const items = restored.length === 0 ? kept : [...kept, ...restored].sort(byField);
    const cut = Math.max(items.length - limit, 0);
    const remaining = page.remaining + this.difference(endOfPage) + cut;
    const shown = cut > 0 ? items.slice(0, limit) : items;
    const end = cut > 0 ? shown.at(-1)?.field : endOfPage;
    return { items: shown, remaining, ...(end !== undefined && remaining > 0 ? { end } : {}) };
  }

  private restored(after: string | undefined, end: string | undefined): ListedText[] {
    const restored: ListedText[] = [];
    for (const [field, { then }] of this.byField) {
      const isInPage = (after === undefined || field > after) && (end === undefined || field <= end);
      if (then && isInPage) restored.push({ field, ...then });
    }
    return restored;
  }

  /** How many more objects there were behind the page than there are now. */
  private difference(endOfPage: string | undefined): number {
    if (endOfPage === undefined) return 0;
    let difference = 0;
    for (const [field, { then, existsNow }] of this.byField) {
      if (field > endOfPage) difference += (then ? 1 : 0) - (existsNow ? 1 : 0);
    }
    return difference;
  }
}

/** By UTF-16 unit, which for the ASCII that names are made of is bytewise. */
function byField(a: ListedText, b: ListedText): number {
  return a.field < b.field ? -1 : a.field > b.field ? 1 : 0;
}
