/** The metadata that tells the shard of an object, and how far a watch has come. */
interface ReadMetadata {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The types of events that are about an object. */
const OF_OBJECTS: ReadonlySet<string | undefined> = new Set(['ADDED', 'MODIFIED', 'DELETED']);
const WANTED: ReadonlySet<string> = new Set(['namespace', 'uid', 'resourceVersion']);

/**
 * Reads the metadata of the object of a watch event from the text of its line, which is skipped over and not parsed: the work of one
 * pass up to the last of these fields. Undefined for another event, and for each text that has to be parsed to be understood.
 */
export function readMetadata(line: string): ReadMetadata | undefined {
  const text = new JsonText(line);
  // Servers write the type first. In another order, nothing is known of the object when it comes.
  if (!text.open() || text.key() !== 'type' || !OF_OBJECTS.has(text.plainString())) return undefined;
  if (!text.goTo('object') || !text.open() || !text.goTo('metadata') || !text.open()) return undefined;
  const found: Record<string, string> = {};
  for (let key = text.key(); key !== undefined; key = text.key()) {
    if (!WANTED.has(key)) {
      if (!text.skipValue()) return undefined;
      continue;
    }
    const value = text.plainString();
    if (value === undefined) return undefined;
    found[key] = value;
    if (Object.keys(found).length === WANTED.size) return found;
  }
  return text.isAtEndOfObject ? found : undefined;
}

/** JSON text that is gone through once, from its beginning. A method that finds what it does not expect says so, and the reading ends. */
class JsonText {
  private at = 0;

  constructor(private readonly text: string) {}

  /** Enters an object. */
  open(): boolean {
    return this.take('{');
  }

  /** Whether the object that was entered last ends here. */
  get isAtEndOfObject(): boolean {
    this.skipSpace();
    return this.text[this.at] === '}';
  }

  /** The next key of the object that was entered, up to its value; undefined behind the last one. */
  key(): string | undefined {
    this.take(',');
    if (this.isAtEndOfObject) return undefined;
    const key = this.plainString();
    return key !== undefined && this.take(':') ? key : undefined;
  }

  /** Skips keys up to the value of this one; false if there is none. */
  goTo(wanted: string): boolean {
    for (let key = this.key(); key !== undefined; key = this.key()) {
      if (key === wanted) return true;
      if (!this.skipValue()) return false;
    }
    return false;
  }

  /** A string without escapes. */
  plainString(): string | undefined {
    if (!this.take('"')) return undefined;
    const end = this.text.indexOf('"', this.at);
    if (end < 0) return undefined;
    const value = this.text.slice(this.at, end);
    this.at = end + 1;
    return value.includes('\\') ? undefined : value;
  }

  /** Goes behind a value of any kind. */
  skipValue(): boolean {
    this.skipSpace();
    let depth = 0;
    while (this.at < this.text.length) {
      const sign = this.text[this.at];
      if (sign === '"') {
        if (!this.skipString()) return false;
        if (depth === 0) return true;
        continue;
      }
      if (sign === '{' || sign === '[') depth++;
      else if (sign === '}' || sign === ']') {
        // The end of the object around a number or a word.
        if (depth === 0) return true;
        depth--;
        if (depth === 0) {
          this.at++;
          return true;
        }
      } else if (sign === ',' && depth === 0) return true;
      this.at++;
    }
    return false;
  }

  private skipString(): boolean {
    for (let end = this.text.indexOf('"', this.at + 1); end >= 0; end = this.text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (this.text[end - 1 - slashes] === '\\') slashes++;
      if (slashes % 2 === 1) continue;
      this.at = end + 1;
      return true;
    }
    return false;
  }

  private take(sign: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  private skipSpace(): void {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t' || this.text[this.at] === '\r')
      this.at++;
  }
}
