import { hash } from 'node:crypto';
import type { StorageKey } from './storage.js';

/** The number of objects whose texts are remembered, 0.2 kB each. */
const REMEMBERED = 20_000;

/**
 * The stored texts that were found to be an object of their key. A list of a large resource would read each of them again, only to
 * find the same; a digest takes a quarter of the time. The revision alone does not do: a text may be changed behind the store's back.
 */
export class KnownTexts {
  private readonly digests = new Map<string, string>();

  /** @param remembered objects; the longest known is forgotten first @default 20 000 */
  constructor(private readonly remembered = REMEMBERED) {}

  /** The answer of `find`, which is not asked again while the text is the same, unless it finds a problem. */
  problemOf(key: StorageKey, text: string, find: () => string | undefined): string | undefined {
    const name = nameOf(key);
    const digest = hash('sha256', text, 'base64');
    if (this.digests.get(name) === digest) return undefined;
    const problem = find();
    this.digests.delete(name);
    if (problem === undefined) this.remember(name, digest);
    return problem;
  }

  private remember(name: string, digest: string): void {
    this.digests.set(name, digest);
    if (this.digests.size <= this.remembered) return;
    const [oldest = ''] = this.digests.keys();
    this.digests.delete(oldest);
  }
}

/** No part of a key holds a slash. */
function nameOf({ name, namespace, resource }: StorageKey): string {
  return `${resource}/${namespace}/${name}`;
}
