import { Composer, isAlias, isCollection, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml';
import type { CST, Document, Node, YAMLMap } from 'yaml';
import { errorMessage } from '../errors/index.js';
import { exactIntegerTags } from '../kubernetes/int64.js';

/** How deep a text may nest its lists and maps: the reader calls itself for each level. */
const MAX_DEPTH = 100;
/** Each alias is looked for among all anchors. */
const MAX_ALIASES = 20;
const LONGEST_PROBLEM = 200;

/**
 * Reads a short text of YAML or JSON that a user wrote, at a cost that is linear in its length. Integers are exact.
 * @param longest characters; a longer text is refused before anything of it is read
 * @throws Error with one line that says what is wrong, and repeats little of the text
 */
export function parseShortYaml(text: string, longest: number): unknown {
  if (text.length > longest) throw new Error(`it has more than ${longest} characters`);
  try {
    const document = compose(tokensOf(text), text.length);
    if (!document) return null;
    checkNodes(document.contents);
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    const [line = ''] = errorMessage(error).split('\n', 1);
    throw new Error(line.slice(0, LONGEST_PROBLEM), { cause: error });
  }
}

function tokensOf(text: string): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let aliases = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') throw new Error(token.message);
      tokens.push(token);
    }
    if (parser.stack.length > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} deep`);
    if (lexeme.startsWith('*') && ++aliases > MAX_ALIASES)
      throw new Error(`it has more than ${MAX_ALIASES} aliases`);
  }
  tokens.push(...parser.end());
  return tokens;
}

/** The library compares each key of a map with all others, and collects all problems: both are left to this file. */
function compose(tokens: readonly CST.Token[], length: number): Document.Parsed | undefined {
  const composer = new Composer({ customTags: exactIntegerTags, uniqueKeys: false });
  (composer as unknown as { onError: OnError }).onError = (_source, _code, message, isWarning) => {
    if (!isWarning) throw new Error(message);
  };
  let only: Document.Parsed | undefined;
  for (const document of composer.compose(tokens, true, length)) {
    const [problem] = document.errors;
    if (problem) throw problem;
    if (only) throw new Error('there is more than one document');
    only = document;
  }
  return only;
}

type OnError = (source: unknown, code: string, message: string, isWarning?: boolean) => void;

function checkNodes(root: Node | null): void {
  const anchored = new Map<string, Node>();
  const open = new Set<Node>();
  const visit = (node: unknown): void => {
    if (isAlias(node)) {
      const target = anchored.get(node.source);
      if (target && open.has(target)) throw new Error('an anchor contains its own alias');
    }
    if ((isScalar(node) || isCollection(node)) && node.anchor) anchored.set(node.anchor, node);
    if (!isCollection(node)) return;
    open.add(node);
    if (isMap(node)) keysOf(node).forEach(visit);
    if (isSeq(node)) node.items.forEach(visit);
    open.delete(node);
  };
  visit(root);
}

/** The values of a map whose keys are texts or numbers, each there once. */
function keysOf(map: YAMLMap): unknown[] {
  const seen = new Set<string>();
  return map.items.map(({ key, value }) => {
    if (!isScalar(key)) throw new Error('a key of a map is a list or a map');
    const name = String(key.value);
    if (seen.has(name)) throw new Error('Map keys must be unique');
    seen.add(name);
    return value;
  });
}
