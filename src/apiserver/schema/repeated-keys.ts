import { checkPlaced } from './coerce.js';
import type { PlacedValue } from './coerce.js';
import { showPath } from './field-path.js';
import type { MapKey } from './field-path.js';
import type { FieldDecoder } from './field-decoder.js';
import type { FieldTypeError } from './field-type-error.js';
import { eachRepeatedKey, inspectJson } from './json-text.js';
import type { WrittenEntry, WrittenJson } from './json-text.js';
import type { FieldFinding } from './object-schema.js';

/** How many of them Go's reader of a type reports. */
export const MAX_FINDINGS = 100;

/** A document that has keys twice, as Go reads it. */
interface ReadTwice {
  /** JSON without repeated keys: structs and maps hold the fields of all their occurrences, all else is the last of them. */
  readonly text: string;
  /** Unknown fields as well, because a message lists both in the order of the text. */
  readonly findings: readonly FieldFinding[];
}

/**
 * Reads a text of JSON that has keys twice.
 * @throws FieldTypeError for a value of a wrong type that another one replaces
 */
export function readRepeatedKeys(text: string, decoder: FieldDecoder): ReadTwice {
  return new RepeatedKeys(text, decoder).read(inspectJson(text));
}

/**
 * Checks every value of a text of JSON that has keys twice, in the order of the text.
 * @throws FieldTypeError for the first value of a wrong type
 */
export function checkInOrder(text: string, decoder: FieldDecoder): void {
  new RepeatedKeys(text, decoder, true).read(inspectJson(text));
}

/** The keys that are repeated in a text that no type describes. */
export function repeatedKeysOf(text: string): FieldFinding[] {
  const findings: FieldFinding[] = [];
  eachRepeatedKey(inspectJson(text), (path) => findings.push({ problem: 'duplicate', path }));
  return findings;
}

/** The same as a reader of YAML reports them: by the line. */
export function repeatedLinesOf(text: string): FieldFinding[] {
  const findings: FieldFinding[] = [];
  let line = 1;
  let at = 0;
  const lineOf = (position: number): number => {
    for (; at < position; at++) if (text[at] === '\n') line++;
    return line;
  };
  eachRepeatedKey(inspectJson(text), (_path, { key, value }) =>
    findings.push({ problem: 'repeated', path: JSON.stringify(key), line: lineOf(value.start) }),
  );
  return findings;
}

/** Fields by their names, a list, or the text of anything else. */
type Built = Map<string, Built> | readonly Built[] | string;

class RepeatedKeys {
  private readonly findings: FieldFinding[] = [];
  private readonly path: (string | number | MapKey)[] = [];
  private readonly seen = new Set<string>();
  private owner = '';
  private postponed: FieldTypeError | undefined;

  constructor(
    private readonly text: string,
    private readonly root: FieldDecoder,
    /** Values are checked where they stand, and not only once another one replaces them. */
    private readonly checksAll = false,
  ) {}

  read(written: WrittenJson): ReadTwice {
    const built = this.value(written, this.root);
    if (this.postponed) throw this.postponed;
    return { text: textOf(built), findings: this.findings };
  }

  private value(written: WrittenJson, field: FieldDecoder, before?: Built): Built {
    const { items } = field;
    if (written.kind === 'object' && field.kind === 'object')
      return this.struct(written.entries, field, before);
    if (written.kind === 'object' && field.kind === 'map' && items)
      return this.map(written.entries, items, before);
    if (written.kind === 'array' && field.kind === 'array' && items)
      return written.items.map((item, index) => this.at(index, () => this.value(item, items)));
    // A type that decodes itself is not searched.
    const text = this.text.slice(written.start, written.end);
    if (this.checksAll) this.check(text, field);
    return text;
  }

  private struct(entries: readonly WrittenEntry[], struct: FieldDecoder, before?: Built): Built {
    const fields = before instanceof Map ? before : new Map<string, Built>();
    const outer = this.owner;
    this.owner = struct.structName;
    for (const entry of entries) {
      const field = struct.properties.get(entry.key);
      this.at(entry.key, () => {
        if (field) this.entry(fields, entry, field);
        else this.note('unknown');
      });
    }
    this.owner = outer;
    return fields;
  }

  private map(entries: readonly WrittenEntry[], items: FieldDecoder, before?: Built): Built {
    const fields = before instanceof Map ? before : new Map<string, Built>();
    for (const entry of entries) this.at({ key: entry.key }, () => this.entry(fields, entry, items));
    return fields;
  }

  private entry(
    fields: Map<string, Built>,
    { isRepeated, key, value }: WrittenEntry,
    field: FieldDecoder,
  ): void {
    if (isRepeated) this.note('duplicate');
    const before = fields.get(key);
    const after = this.value(value, field, before);
    if (before !== undefined && before !== after && !this.checksAll) this.check(textOf(before), field);
    fields.set(key, after);
  }

  private check(text: string, field: FieldDecoder): void {
    const placed: PlacedValue = { text, field, path: this.path, owner: this.owner };
    this.postponed = checkPlaced(placed, this.root, this.postponed);
  }

  /** Go reports the same field once, even if it is there three times. */
  private note(problem: 'unknown' | 'duplicate'): void {
    if (this.findings.length >= MAX_FINDINGS) return;
    const path = showPath(this.path);
    if (this.seen.has(`${problem} ${path}`)) return;
    this.seen.add(`${problem} ${path}`);
    this.findings.push({ problem, path });
  }

  private at<T>(part: string | number | MapKey, read: () => T): T {
    this.path.push(part);
    const result = read();
    this.path.pop();
    return result;
  }
}

function textOf(built: Built): string {
  if (typeof built === 'string') return built;
  if (built instanceof Map)
    return `{${[...built].map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
  return `[${built.map(textOf).join(',')}]`;
}
