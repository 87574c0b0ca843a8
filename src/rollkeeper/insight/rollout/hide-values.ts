import { createHmac, randomBytes } from 'node:crypto';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';

/** Fields that hold what a person may have meant to keep to themselves, wherever they are in a template. */
const HIDDEN_LISTS: ReadonlySet<string> = new Set(['args', 'command']);
const HIDDEN_MAPS: ReadonlySet<string> = new Set(['annotations', 'volumeAttributes', 'options']);
const HIDDEN_ENTRIES: ReadonlySet<string> = new Set(['env', 'httpHeaders']);

/** Annotations whose values are no secret by any custom. */
const OPEN_ANNOTATION = /^(kubectl\.kubernetes\.io\/restartedAt|prometheus\.io\/|checksum\/)/;

/**
 * Puts marks in the place of values that may be secret: of environment variables, headers of probes, commands and their
 * arguments, annotations, and options of volumes. Equal values get equal marks, so that what differs still does. A mark reveals
 * nothing of its value, since its key is random each time.
 */
export class HiddenValues {
  private readonly key = randomBytes(32);

  /** A copy of a template, or of a whole object. */
  hide<T>(value: DeepReadonly<T>): T {
    return this.inside(cloneJson(value)) as T;
  }

  private inside(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.inside(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.field(name, inner)]));
  }

  private field(name: string, value: unknown): unknown {
    if (HIDDEN_LISTS.has(name) && Array.isArray(value)) return this.mark(value);
    if (HIDDEN_MAPS.has(name) && isJsonObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          name === 'annotations' && OPEN_ANNOTATION.test(key) ? inner : this.mark(inner),
        ]),
      );
    if (HIDDEN_ENTRIES.has(name) && Array.isArray(value))
      return value.map((entry: unknown) =>
        isJsonObject(entry) && 'value' in entry ? { ...entry, value: this.mark(entry['value']) } : entry,
      );
    return this.inside(value);
  }

  private mark(value: unknown): string {
    const digest = createHmac('sha256', this.key).update(JSON.stringify(value)).digest('hex');
    return `⟨hidden:${digest.slice(0, 16)}⟩`;
  }
}

const MARK = /⟨hidden:[0-9a-f]{16}⟩/g;
export const HIDDEN = '(hidden)';

/** A text with marks, for people. */
export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, HIDDEN);
}
