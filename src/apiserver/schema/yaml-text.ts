import { Composer, isAlias, isCollection, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from 'yaml';
import type { CST, Document, ErrorCode, Node, Scalar, Tags, YAMLMap } from 'yaml';
import { nextTurn } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, exactIntegerTags, goQuote } from '@rollkeeper/machinery/kubernetes';
import { checkValue, DocumentLimitError, MAX_DEPTH, tooDeep } from './document-limits.js';
import type { FieldFinding } from './object-schema.js';

/** A text that is no YAML. */
export class YamlSyntaxError extends Error {}

const EXCESSIVE_ALIASING = 'yaml: document contains excessive aliasing';

export interface YamlDocument {
  readonly value: unknown;
  /** The keys that are repeated in one map. */
  readonly duplicates: readonly FieldFinding[];
}

/** Kubernetes reads YAML 1.1 without times and numbers to the base of 60; what JSON cannot hold is left out as well. */
const NOT_JSON = /:(?:timestamp|binary|omap|pairs|set)$/;
const customTags = (tags: Tags): Tags =>
  exactIntegerTags(tags).filter(
    (tag) =>
      typeof tag === 'string' || (!('format' in tag && tag.format === 'TIME') && !NOT_JSON.test(tag.tag)),
  );

/**
 * Limit of words, spaces and signs in a text: parsing yields to other requests, but later processing does not, and may
 * block them for half a second at most.
 */
const MAX_LEXEMES = 300_000;
/** After how many the others get a turn; some milliseconds. */
const TURN = 5_000;
/** Each is looked for among all anchors. */
const MAX_ALIASES = 1000;

/**
 * Reads YAML that came from outside. Takes turns with other work while it reads a large text.
 * @throws YamlSyntaxError naming the line
 * @throws DocumentLimitError
 */
export async function parseYaml(text: string): Promise<YamlDocument> {
  const lines = new LineCounter();
  try {
    const { aliases, tokens } = await readTokens(text, lines);
    const document = compose(tokens, text);
    if (!document) return { value: null, duplicates: [] };
    const { duplicates } = new Inspection(document.contents, lines);
    const value = toPlain(document);
    checkValue(value);
    // Aliases share one object, and a change in one place would change it in all.
    return { value: aliases > 0 ? cloneJson(value) : value, duplicates };
  } catch (error) {
    if (isStackOverflow(error)) throw tooDeep();
    if (error instanceof FirstProblem) {
      throw new YamlSyntaxError(`yaml: line ${lines.linePos(error.offset).line}: ${error.message}`);
    }
    throw error;
  }
}

/** The library reports its own stack overflow like a syntax error. */
function isStackOverflow(error: unknown): boolean {
  return errorMessage(error).includes('Maximum call stack size exceeded');
}

interface Tokens {
  /** A tree per document, and the tokens between them. */
  readonly tokens: readonly CST.Token[];
  readonly aliases: number;
}

async function readTokens(text: string, lines: LineCounter): Promise<Tokens> {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  let aliases = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    lexemes++;
    if (lexeme.startsWith('*') && ++aliases > MAX_ALIASES) throw new YamlSyntaxError(EXCESSIVE_ALIASING);
    if (parser.stack.length > MAX_DEPTH) throw tooDeep();
    if (lexemes > MAX_LEXEMES) {
      throw new DocumentLimitError('values', `the document has more than ${MAX_LEXEMES} words and signs`);
    }
    if (lexemes % TURN === 0) await nextTurn();
  }
  tokens.push(...parser.end());
  return { aliases, tokens };
}

/** Ends the reading at the first thing that is wrong: a hostile text has as many as characters. */
class FirstProblem extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

type OnError = (
  source: number | { readonly offset: number } | readonly [number, number],
  code: ErrorCode,
  message: string,
  isWarning?: boolean,
) => void;

/** The only document of the tokens; undefined where there is none. */
function compose(tokens: readonly CST.Token[], text: string): Document.Parsed | undefined {
  const composer = new Composer({ version: '1.1', customTags, uniqueKeys: false });
  // The library would collect them.
  (composer as unknown as { onError: OnError }).onError = (source, code, message, isWarning) => {
    if (isWarning) return;
    const offset = typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0];
    throw new FirstProblem(offset, inGoWords(code, message, text));
  };
  let only: Document.Parsed | undefined;
  for (const document of composer.compose(tokens, true, text.length)) {
    const [problem] = document.errors;
    if (problem) throw new FirstProblem(problem.pos[0], problem.message);
    if (only) throw new FirstProblem(document.range[0], 'there is more than one document');
    only = document;
  }
  return only;
}

/** The words of a genuine server for a list or a map in brackets that is never closed. */
function inGoWords(code: ErrorCode, message: string, text: string): string {
  const isOpen = (code === 'BAD_INDENT' || code === 'MISSING_CHAR') && /[[{,]\s*$/.test(text);
  return isOpen ? 'did not find expected node content' : message;
}

function toPlain(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const isBomb = errorMessage(error).includes('Excessive alias count');
    throw new YamlSyntaxError(isBomb ? EXCESSIVE_ALIASING : `yaml: ${errorMessage(error)}`, { cause: error });
  }
}

/** Checks the nodes: duplicate keys in one map, and an anchor whose value contains its own alias. */
class Inspection {
  readonly duplicates: FieldFinding[] = [];
  private readonly anchored = new Map<string, Node>();
  private readonly open = new Set<Node>();

  constructor(
    root: Node | null,
    private readonly lines: LineCounter,
  ) {
    this.visit(root, '');
  }

  private visit(node: Node | null, path: string): void {
    if (isAlias(node)) this.refuseInItself(node.source);
    if (!isSeq(node) && !isMap(node)) {
      this.noteAnchor(node);
      return;
    }
    this.noteAnchor(node);
    this.open.add(node);
    if (isMap(node)) this.visitMap(node, path);
    else node.items.forEach((item, index) => this.visit(item as Node | null, `${path}[${index}]`));
    this.open.delete(node);
  }

  private visitMap(map: YAMLMap, path: string): void {
    const seen = new Set<string>();
    for (const { key, value } of map.items) {
      // The library would take the text of a list or map for the key, and that of a deep one for minutes.
      if (!isScalar(key))
        throw new YamlSyntaxError(`yaml: invalid map key${path === '' ? '' : ` in ${path}`}`);
      const name = String(key.value);
      const keyPath = path === '' ? name : `${path}.${name}`;
      if (seen.has(name)) this.duplicates.push(this.repeated(key, value as Node | null));
      seen.add(name);
      this.noteAnchor(key);
      this.visit(value as Node | null, keyPath);
    }
  }

  private repeated(key: Scalar, value: Node | null): FieldFinding {
    const [start = 0] = (value ?? key).range ?? [];
    const shown = typeof key.value === 'string' ? goQuote(key.value) : String(key.value);
    return { problem: 'repeated', path: shown, line: this.lines.linePos(start).line };
  }

  private noteAnchor(node: Node | null): void {
    if ((isScalar(node) || isCollection(node)) && node.anchor) this.anchored.set(node.anchor, node);
  }

  private refuseInItself(anchor: string): void {
    const target = this.anchored.get(anchor);
    if (target && this.open.has(target)) {
      throw new YamlSyntaxError(`yaml: anchor '${anchor}' value contains itself`);
    }
  }
}
