import type { Part, RuleName, State } from './grammar.js';
import { RULES, afterStep, firstOf, nextAt } from './grammar.js';
import type { Token, TokenKind, UnknownText } from './tokens.js';
import { inOrder, tokensOf } from './tokens.js';

/** Sources: parser/parser.go of cel-go, for all four. */
const MAX_DEPTH = 250;
const MAX_PROBLEMS = 100;
const TOO_MANY = `Syntax error: More than ${MAX_PROBLEMS} syntax errors`;
const MAX_RECOVERIES = 30;
const MAX_SKIPPED = 256;

/** Literals that are used as names. */
const RESERVED = /no viable alternative at input '.(true|false|null)'/s;

const RESERVED_WORDS: ReadonlySet<string> = new Set([
  'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return',
  'var', 'void', 'while',
]); // prettier-ignore

/** A problem and its place; a problem of the whole expression has no place. */
interface FoundProblem {
  readonly at: number | undefined;
  readonly message: string;
}

/** Ends the rule in which it is thrown. */
class Misfit extends Error {
  constructor(
    message: string,
    readonly state: State,
    /** The token that does not fit. */
    readonly token: Token,
  ) {
    super(message);
  }
}

/** Ends the parsing. */
class Halt extends Error {}

/**
 * The problems of the syntax of an expression, in the words of cel-go. Its parser continues after an error where it
 * can, and takes expressions that are nested too deeply for wrong ones. The grammar is followed as ANTLR's parsers do.
 */
export function syntaxProblems(text: string): readonly FoundProblem[] {
  const problems: FoundProblem[] = [];
  const unknown: UnknownText[] = [];
  const tokens = tokensOf(text, unknown);
  for (const { at, length } of unknown) {
    if (problems.length === MAX_PROBLEMS) return [...problems, { at, message: TOO_MANY }];
    const message = `Syntax error: token recognition error at: '${text.slice(at, at + length)}'`;
    problems.push({ at, message });
  }
  const parser = new SyntaxParser(text, tokens, problems, unknown);
  try {
    const depth = settle(parser.rule('start', 0));
    if (depth > MAX_DEPTH && problems.length === 0)
      problems.push({ at: undefined, message: 'max recursion depth exceeded' });
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    if (error.message !== '') problems.push({ at: undefined, message: error.message });
  }
  return problems.sort((one, other) => (one.at ?? -1) - (other.at ?? -1));
}

/** Part of the parsing: asks for inner parts, and ends with a depth. */
type Parsing = Generator<Parsing, number, number>;

/** Runs to the end without nested calls, however deeply an expression is nested. */
function settle(first: Parsing): number {
  const stack = [first];
  let depth = 0;
  let failure: { readonly error: unknown } | undefined;
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    try {
      const { done, value } = failure ? top.throw(failure.error) : top.next(depth);
      failure = undefined;
      if (!done) stack.push(value);
      else {
        stack.pop();
        depth = value;
      }
    } catch (error) {
      stack.pop();
      failure = { error };
    }
  }
  if (failure) throw failure.error;
  return depth;
}

/** Parses along the grammar. Each part gives how deeply the visitor of its tree would go. */
class SyntaxParser {
  private at = 0;
  private state: State | undefined;
  private isRecovering = false;
  private recoveries = 0;
  private lastError: { at: number; states: Set<State> } = { at: -1, states: new Set() };
  /** The points from which the rules under way were called. */
  private readonly callers: State[] = [];
  private readonly depths = new Map<RuleName, number>();

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly problems: FoundProblem[],
    private readonly unknown: readonly UnknownText[],
  ) {}

  *rule(name: RuleName, precedence: number): Parsing {
    const nesting = (this.depths.get(name) ?? 0) + 1;
    if (nesting > MAX_DEPTH) throw new Halt(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    this.depths.set(name, nesting);
    try {
      return yield this.part(RULES[name], precedence);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      this.state = error.state;
      if (!this.isRecovering) this.report(error.message, error.token);
      this.isRecovering = true;
      this.recover();
      return 0;
    } finally {
      this.depths.set(name, nesting - 1);
    }
  }

  private *part(part: Part, precedence: number): Parsing {
    switch (part.type) {
      case 'token':
        this.match(part);
        return 0;
      case 'rule': {
        this.state = part.state;
        this.callers.push(part.state);
        try {
          return yield this.rule(part.rule, part.precedence);
        } finally {
          this.callers.pop();
        }
      }
      case 'all':
        return yield this.sequence(part.parts, precedence);
      case 'one':
        return yield this.alternative(part, precedence);
      case 'maybe': {
        this.sync(part.state);
        const isThere = nextAt(part.part.state).kinds.has(this.kind());
        const depth = isThere ? yield this.part(part.part, precedence) : 0;
        return isThere && opensTernary(part) ? depth + 1 : depth;
      }
      case 'repeat':
        return yield this.repetition(part, precedence);
    }
  }

  private *sequence(parts: readonly Part[], precedence: number): Parsing {
    let depth = 0;
    for (const part of parts)
      // A chain of operators or selections is a tree as deep as it is long, with the first operand at its bottom.
      if (part.type === 'repeat' && isChain(part.choice))
        depth = yield this.repetition(part, precedence, depth);
      else depth = Math.max(depth, yield this.part(part, precedence));
    return depth;
  }

  private *alternative(part: Extract<Part, { type: 'one' }>, precedence: number): Parsing {
    this.sync(part.state);
    const index = this.choose(part);
    this.judgeName(part.choice, index);
    return yield this.part(part.parts[index]!, precedence);
  }

  private *repetition(part: Extract<Part, { type: 'repeat' }>, precedence: number, before = 0): Parsing {
    let depth = before;
    this.sync(part.state);
    if (!part.atLeastOnce && !this.goesOn(part, precedence)) return depth;
    do {
      depth = Math.max(depth, yield this.part(part.part, precedence)) + (isChain(part.choice) ? 1 : 0);
      this.sync(part.back);
    } while (this.goesOn(part, precedence));
    return depth;
  }

  private kind(ahead = 0): TokenKind {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)]!.kind;
  }

  private goesOn({ choice, part }: Extract<Part, { type: 'repeat' }>, precedence: number): boolean {
    const kind = this.kind();
    switch (choice) {
      case 'relation':
        return precedence <= 1 && nextAt(part.state).kinds.has(kind);
      case 'calc':
        return kind === "'+'" || kind === "'-'"
          ? precedence <= 1
          : precedence <= 2 && nextAt(part.state).kinds.has(kind);
      case 'items':
        return kind === "','" && firstOf('optExpr').has(this.kind(1));
      case 'fields':
        return kind === "','" && firstOf('optField').has(this.kind(1));
      case 'negations':
        if (kind !== "'-'") return false;
        if (this.kind(1) !== "'-'" && !firstOf('member').has(this.kind(1))) throw this.noAlternative(1);
        return true;
      default:
        return nextAt(part.state).kinds.has(kind);
    }
  }

  /** The alternative that the next tokens are of. */
  private choose({ choice, parts }: Extract<Part, { type: 'one' }>): number {
    const [kind, next] = [this.kind(), this.kind(1)];
    switch (choice) {
      case 'unary':
        if (kind === "'!'") return 1;
        if (kind !== "'-'") break;
        if (next === 'NUM_INT' || next === 'NUM_FLOAT') return 0;
        if (next === "'-'" || firstOf('member').has(next)) return 2;
        throw this.noAlternative(1);
      case 'selection':
        if (kind !== "'.'") break;
        if (next === "'?'" || next === 'ESC_IDENTIFIER') return 0;
        if (next === 'IDENTIFIER') return this.kind(2) === "'('" ? 1 : 0;
        throw this.noAlternative(1);
      case 'primary':
        if (kind === "'.'" || kind === 'IDENTIFIER') return this.chooseName();
        break;
      case 'literal':
        if (kind !== "'-'") break;
        if (next === 'NUM_INT') return 0;
        if (next === 'NUM_FLOAT') return 2;
        throw this.noAlternative(1);
    }
    const index = parts.findIndex(({ state }) => nextAt(state).kinds.has(kind));
    if (index < 0) throw this.noAlternative(0);
    return index;
  }

  /** Finds names that the grammar accepts and the visitor of its tree does not. */
  private judgeName(choice: string, index: number): void {
    const name = this.tokens[this.at + (this.kind() === "'.'" ? 1 : 0)];
    if (!name) return;
    const word = this.text.slice(name.start, name.end);
    if (choice === 'primary' && index < 2 && RESERVED_WORDS.has(word))
      this.problems.push({ at: name.start, message: `reserved identifier: ${word}` });
    if (choice === 'name' && index === 1)
      this.problems.push({ at: name.start, message: "unsupported syntax: '`'" });
  }

  /** A name, a call or a message: names of messages have several parts. */
  private chooseName(): number {
    let ahead = this.kind() === "'.'" ? 1 : 0;
    if (this.kind(ahead) !== 'IDENTIFIER') throw this.noAlternative(ahead);
    ahead++;
    if (this.kind(ahead) === "'('") return 1;
    for (;;) {
      if (this.kind(ahead) === "'{'") return 5;
      if (this.kind(ahead) !== "'.'") return 0;
      if (this.kind(ahead + 1) !== 'IDENTIFIER') return 0;
      ahead += 2;
    }
  }

  private noAlternative(ahead: number): Misfit {
    const [first, last] = [this.at, Math.min(this.at + ahead, this.tokens.length - 1)];
    const { start, kind } = this.tokens[first]!;
    const shown = kind === '<EOF>' ? kind : this.recognized(start, this.tokens[last]!.end);
    const text = `no viable alternative at input ${quoted(shown)}`;
    const message = text.replace(RESERVED, "mismatched input '$1' expecting IDENTIFIER");
    return new Misfit(message, this.state!, this.tokens[last]!);
  }

  private recognized(start: number, end: number): string {
    let shown = '';
    for (const { at, length } of this.unknown) {
      if (at < start || at >= end) continue;
      shown += this.text.slice(start, at);
      start = at + length;
    }
    return shown + this.text.slice(start, end);
  }

  private match({ kinds, state }: Extract<Part, { type: 'token' }>): void {
    this.state = state;
    if (kinds.has(this.kind())) {
      this.isRecovering = false;
      this.advance();
      return;
    }
    this.countRecovery();
    if (this.deletes()) {
      this.advance();
      return;
    }
    if (this.contextAfter(afterStep(state)).has(this.kind())) {
      if (!this.isRecovering) this.report(`missing ${listed(this.expected())} at ${quoted(this.shown())}`);
      this.isRecovering = true;
      return;
    }
    throw this.mismatch();
  }

  private mismatch(): Misfit {
    return new Misfit(
      `mismatched input ${quoted(this.shown())} expecting ${listed(this.expected())}`,
      this.state!,
      this.tokens[this.at]!,
    );
  }

  /** Leaves out a token that is too much, if the one after it would do. */
  private deletes(): boolean {
    if (!this.expected().has(this.kind(1)) || this.kind() === '<EOF>') return false;
    this.reportSurplus();
    this.advance();
    this.isRecovering = false;
    return true;
  }

  private reportSurplus(): void {
    if (!this.isRecovering)
      this.report(`extraneous input ${quoted(this.shown())} expecting ${listed(this.expected())}`);
    this.isRecovering = true;
  }

  /** Before a choice: whether what comes next can be right. */
  private sync(state: State): void {
    this.state = state;
    if (this.isRecovering) return;
    const { kinds, mayEnd } = nextAt(state);
    if (mayEnd || kinds.has(this.kind())) return;
    if (state.kind === 'loop back') {
      this.reportSurplus();
      this.skipTo(new Set([...this.expected(), ...this.recoverySet()]), false);
    } else if (!this.deletes()) throw this.mismatch();
  }

  private expected(): ReadonlySet<TokenKind> {
    return this.contextAfter(this.state!);
  }

  /** The tokens that can come at a point, or after the rules under way. */
  private contextAfter(state: State): ReadonlySet<TokenKind> {
    const kinds = new Set(nextAt(state).kinds);
    let { mayEnd } = nextAt(state);
    for (let index = this.callers.length - 1; mayEnd && index >= 0; index--) {
      const next = nextAt(afterStep(this.callers[index]!));
      for (const kind of next.kinds) kinds.add(kind);
      ({ mayEnd } = next);
    }
    if (mayEnd) kinds.add('<EOF>');
    return kinds;
  }

  private recoverySet(): ReadonlySet<TokenKind> {
    return new Set(this.callers.flatMap((state) => [...nextAt(afterStep(state)).kinds]));
  }

  private recover(): void {
    this.countRecovery();
    const state = this.state!;
    if (this.lastError.at === this.at && this.lastError.states.has(state)) this.advance();
    this.lastError.at = this.at;
    this.lastError.states.add(state);
    this.skipTo(this.recoverySet(), true);
  }

  private skipTo(kinds: ReadonlySet<TokenKind>, isLimited: boolean): void {
    for (let skipped = 0; this.kind() !== '<EOF>' && !kinds.has(this.kind()); skipped++) {
      if (isLimited && skipped >= MAX_SKIPPED)
        throw new Halt(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED}`);
      this.advance();
    }
  }

  private countRecovery(): void {
    if (this.recoveries++ < MAX_RECOVERIES) return;
    this.report(`error recovery attempt limit exceeded: ${MAX_RECOVERIES}`);
    throw new Halt('');
  }

  private report(message: string, { start: at } = this.tokens[this.at]!): void {
    if (this.problems.length >= MAX_PROBLEMS) {
      this.problems.push({ at, message: TOO_MANY });
      throw new Halt('');
    }
    this.problems.push({ at, message: `Syntax error: ${message}` });
  }

  private advance(): void {
    if (this.at < this.tokens.length - 1) this.at++;
  }

  private shown(): string {
    const { kind, start, end } = this.tokens[this.at]!;
    return kind === '<EOF>' ? kind : this.text.slice(start, end);
  }
}

function opensTernary({ part }: Extract<Part, { type: 'maybe' }>): boolean {
  return part.type === 'all' && part.parts.length === 4;
}

function isChain(choice: string): boolean {
  return choice === 'relation' || choice === 'calc' || choice === 'member';
}

function quoted(text: string): string {
  const shown = text
    .replaceAll('\t', String.raw`\t`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`);
  return `'${shown}'`;
}

function listed(kinds: ReadonlySet<TokenKind>): string {
  const names = inOrder(kinds);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}
