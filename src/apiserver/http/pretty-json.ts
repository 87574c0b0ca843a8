const INDENT = '  ';

/** JSON that people read: a field a line, as Go's encoder indents it. Takes a text in pieces, wherever they are cut. */
export class PrettyJson {
  private depth = 0;
  private isInText = false;
  private isEscaped = false;
  /** Whether the last thing written opened an object or a list, which may turn out to be empty. */
  private isOpened = false;

  /** Formats the next piece of the text. */
  write(piece: string): string {
    let pretty = '';
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]!;
      if (this.isInText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (char === '\\') this.isEscaped = true;
        else if (char === '"') this.isInText = false;
        continue;
      }
      const written = this.outsideOfText(char);
      if (written === char) continue;
      pretty += piece.slice(from, at) + written;
      from = at + 1;
    }
    return pretty + piece.slice(from);
  }

  private outsideOfText(char: string): string {
    switch (char) {
      case ' ':
      case '\n':
      case '\t':
      case '\r':
        return '';
      case '}':
      case ']':
        return this.closed(char);
    }
    const before = this.isOpened ? this.newLine() : '';
    this.isOpened = false;
    switch (char) {
      case '{':
      case '[':
        this.isOpened = true;
        this.depth++;
        return before + char;
      case ',':
        return `,${this.newLine()}`;
      case ':':
        return ': ';
      case '"':
        this.isInText = true;
    }
    return before + char;
  }

  private closed(char: string): string {
    this.depth--;
    const before = this.isOpened ? '' : this.newLine();
    this.isOpened = false;
    return before + char;
  }

  private newLine(): string {
    return `\n${INDENT.repeat(this.depth)}`;
  }
}

const HUMAN = /^(?:curl|Wget|Mozilla\/5\.0)/;

/**
 * Whether an answer is meant for people: `pretty` in the query says so, or the name of the client.
 * Source: isPrettyPrint in apiserver's pkg/endpoints/handlers/negotiation.
 */
export function isPrettyAsked(asked: {
  readonly query: URLSearchParams;
  readonly headers: { readonly accept?: string | undefined; readonly 'user-agent'?: string | undefined };
}): boolean {
  const { headers, query } = asked;
  if (/;\s*pretty=1\s*(?:[;,]|$)/.test(headers.accept ?? '')) return true;
  const wanted = query.get('pretty');
  // Go's words for true.
  if (wanted) return /^(?:1|t|T|true|TRUE|True)$/.test(wanted);
  return HUMAN.test(headers['user-agent'] ?? '');
}
