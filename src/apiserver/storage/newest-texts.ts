import type { StoredText } from './object-text.js';
import type { Revision, StorageKey } from './storage.js';

interface NewestTextsLimits {
  readonly maxEntries: number;
  /** The longest JSON text, in characters. */
  readonly maxTextLength: number;
}

/**
 * The newest states that this process knows of, by key: from its own reads and writes, and from the watch log. A hint
 * and no truth: the store may be ahead. What was learned longest ago goes first when there is too much.
 */
export class NewestTexts {
  private readonly texts = new Map<string, StoredText>();
  private textLength = 0;

  constructor(private readonly limits: NewestTextsLimits) {}

  get size(): number {
    return this.texts.size;
  }

  recall(key: StorageKey): StoredText | undefined {
    return this.texts.get(addressOf(key));
  }

  /** Ignored when something newer is known: answers and the watch log arrive in any order. */
  learn(key: StorageKey, stored: StoredText): void {
    const address = addressOf(key);
    const known = this.texts.get(address);
    if (known && known.revision > stored.revision) return;
    if (known) this.drop(address, known);
    this.texts.set(address, stored);
    this.textLength += stored.text.length;
    this.makeRoom();
  }

  /** The object was deleted at `revision`; absent: it was looked for and not found. */
  forget(key: StorageKey, revision: Revision = Number.POSITIVE_INFINITY): void {
    const address = addressOf(key);
    const known = this.texts.get(address);
    if (known && known.revision < revision) this.drop(address, known);
  }

  /** The store may have another history from here on, in which revisions have other meanings. */
  clear(): void {
    this.texts.clear();
    this.textLength = 0;
  }

  private makeRoom(): void {
    const { maxEntries, maxTextLength } = this.limits;
    for (const [address, stored] of this.texts) {
      if (this.texts.size <= maxEntries && this.textLength <= maxTextLength) return;
      this.drop(address, stored);
    }
  }

  private drop(address: string, { text }: StoredText): void {
    this.texts.delete(address);
    this.textLength -= text.length;
  }
}

function addressOf({ resource, namespace, name }: StorageKey): string {
  return `${resource}\0${namespace}\0${name}`;
}
