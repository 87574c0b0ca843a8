import type { TokenKind } from './tokens.js';

/** A point between two parts of a rule. */
export interface State {
  readonly kind: 'point' | 'block' | 'loop entry' | 'loop back';
  readonly edges: Edge[];
}

/** To another point: at once, past a token of a kind, or past a rule. */
interface Edge {
  to: State;
  readonly tokens?: ReadonlySet<TokenKind>;
  readonly rule?: RuleName;
}

/** Part of a rule, with the point before it. */
export type Part =
  | { readonly type: 'token'; readonly kinds: ReadonlySet<TokenKind>; state: State }
  | { readonly type: 'rule'; readonly rule: RuleName; readonly precedence: number; state: State }
  | { readonly type: 'all'; readonly parts: readonly Part[]; state: State }
  | { readonly type: 'one'; readonly choice: string; readonly parts: readonly Part[]; state: State }
  | { readonly type: 'maybe'; readonly part: Part; state: State }
  | {
      readonly type: 'repeat';
      readonly choice: string;
      readonly atLeastOnce: boolean;
      readonly part: Part;
      state: State;
      back: State;
    };

const newState = (kind: State['kind'] = 'point'): State => ({ kind, edges: [] });
const NOWHERE = newState();

const token = (...kinds: TokenKind[]): Part => ({ type: 'token', kinds: new Set(kinds), state: NOWHERE });
const rule = (name: RuleName, precedence = 0): Part => ({
  type: 'rule',
  rule: name,
  precedence,
  state: NOWHERE,
});
const all = (...parts: Part[]): Part => ({ type: 'all', parts, state: NOWHERE });
const one = (choice: string, ...parts: Part[]): Part => ({ type: 'one', choice, parts, state: NOWHERE });
const maybe = (...parts: Part[]): Part => ({ type: 'maybe', part: all(...parts), state: NOWHERE });
const repeated = (atLeastOnce: boolean, choice: string, parts: Part[]): Part => ({
  type: 'repeat',
  choice,
  atLeastOnce,
  part: all(...parts),
  state: NOWHERE,
  back: NOWHERE,
});
const many = (choice: string, ...parts: Part[]): Part => repeated(false, choice, parts);
const some = (choice: string, ...parts: Part[]): Part => repeated(true, choice, parts);

export type RuleName =
  | 'start'
  | 'expr'
  | 'or'
  | 'and'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldList'
  | 'optField'
  | 'mapList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal';

/**
 * The grammar of CEL, in the shape that cel-go has it: what a parser expects, and where it continues after an error, depends on
 * it. `choice` names how an alternative is chosen; '' is by the next token.
 */
export const RULES: Readonly<Record<RuleName, Part>> = {
  start: all(rule('expr'), token('<EOF>')),
  expr: all(rule('or'), maybe(token("'?'"), rule('or'), token("':'"), rule('expr'))),
  or: all(rule('and'), many('', token("'||'"), rule('and'))),
  and: all(rule('relation'), many('', token("'&&'"), rule('relation'))),
  relation: all(
    rule('calc'),
    many('relation', token("'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'"), rule('relation', 2)),
  ),
  calc: all(
    rule('unary'),
    many(
      'calc',
      one('', all(token("'*'", "'/'", "'%'"), rule('calc', 3)), all(token("'+'", "'-'"), rule('calc', 2))),
    ),
  ),
  unary: one(
    'unary',
    rule('member'),
    all(some('', token("'!'")), rule('member')),
    all(some('negations', token("'-'")), rule('member')),
  ),
  member: all(
    rule('primary'),
    many(
      'member',
      one(
        'selection',
        all(token("'.'"), maybe(token("'?'")), rule('escapeIdent')),
        all(token("'.'"), token('IDENTIFIER'), token("'('"), maybe(rule('exprList')), token("')'")),
        all(token("'['"), maybe(token("'?'")), rule('expr'), token("']'")),
      ),
    ),
  ),
  primary: one(
    'primary',
    all(maybe(token("'.'")), token('IDENTIFIER')),
    all(maybe(token("'.'")), token('IDENTIFIER'), token("'('"), maybe(rule('exprList')), token("')'")),
    all(token("'('"), rule('expr'), token("')'")),
    all(token("'['"), maybe(rule('listInit')), maybe(token("','")), token("']'")),
    all(token("'{'"), maybe(rule('mapList')), maybe(token("','")), token("'}'")),
    all(
      maybe(token("'.'")),
      token('IDENTIFIER'),
      many('', token("'.'"), token('IDENTIFIER')),
      token("'{'"),
      maybe(rule('fieldList')),
      maybe(token("','")),
      token("'}'"),
    ),
    rule('literal'),
  ),
  exprList: all(rule('expr'), many('', token("','"), rule('expr'))),
  listInit: all(rule('optExpr'), many('items', token("','"), rule('optExpr'))),
  fieldList: all(
    rule('optField'),
    token("':'"),
    rule('expr'),
    many('fields', token("','"), rule('optField'), token("':'"), rule('expr')),
  ),
  optField: all(maybe(token("'?'")), rule('escapeIdent')),
  mapList: all(
    rule('optExpr'),
    token("':'"),
    rule('expr'),
    many('items', token("','"), rule('optExpr'), token("':'"), rule('expr')),
  ),
  escapeIdent: one('name', token('IDENTIFIER'), token('ESC_IDENTIFIER')),
  optExpr: all(maybe(token("'?'")), rule('expr')),
  literal: one(
    'literal',
    all(maybe(token("'-'")), token('NUM_INT')),
    token('NUM_UINT'),
    all(maybe(token("'-'")), token('NUM_FLOAT')),
    token('STRING'),
    token('BYTES'),
    token("'true'"),
    token("'false'"),
    token("'null'"),
  ),
};

const starts = new Map<RuleName, State>();
/** The end of every rule: what follows depends on what called it. */
const END = newState();

for (const [name, part] of Object.entries(RULES)) {
  const start = newState();
  starts.set(name as RuleName, start);
  join(laidOut(part, start), END);
}

function join(from: State, to: State): void {
  from.edges.push({ to });
}

/** Gives a part its points, from `from` on. @returns the point after it */
function laidOut(part: Part, from: State): State {
  const end = newState();
  part.state = from;
  switch (part.type) {
    case 'token':
      from.edges.push({ to: end, tokens: part.kinds });
      return end;
    case 'rule':
      from.edges.push({ to: end, rule: part.rule });
      return end;
    case 'all':
      return part.parts.reduce((before, inner) => {
        const here = newState();
        join(before, here);
        return laidOut(inner, here);
      }, from);
    case 'one':
    case 'maybe': {
      const block = newState('block');
      part.state = block;
      join(from, block);
      for (const inner of part.type === 'one' ? part.parts : [part.part]) {
        const here = newState();
        join(block, here);
        join(laidOut(inner, here), end);
      }
      if (part.type === 'maybe') join(block, end);
      return end;
    }
    case 'repeat': {
      const entry = newState(part.atLeastOnce ? 'block' : 'loop entry');
      const here = newState();
      part.state = entry;
      part.back = newState('loop back');
      join(from, entry);
      join(entry, here);
      join(laidOut(part.part, here), part.back);
      join(part.back, entry);
      join(part.atLeastOnce ? part.back : entry, end);
      return end;
    }
  }
}

/** The kinds that can come next, and whether the rule may be over before. */
interface Next {
  readonly kinds: ReadonlySet<TokenKind>;
  readonly mayEnd: boolean;
}

const known = new Map<State, Next>();

/** The tokens that can come after a point, within its rule. */
export function nextAt(state: State): Next {
  const before = known.get(state);
  if (before) return before;
  const kinds = new Set<TokenKind>();
  const mayEnd = collect(state, kinds, new Set());
  const next = { kinds, mayEnd };
  known.set(state, next);
  return next;
}

function collect(state: State, kinds: Set<TokenKind>, seen: Set<State>): boolean {
  if (state === END) return true;
  if (seen.has(state)) return false;
  seen.add(state);
  let mayEnd = false;
  for (const { to, tokens, rule } of state.edges) {
    if (tokens) for (const kind of tokens) kinds.add(kind);
    else if (!rule) mayEnd = collect(to, kinds, seen) || mayEnd;
    else if (collect(starts.get(rule)!, kinds, new Set(seen))) mayEnd = collect(to, kinds, seen) || mayEnd;
  }
  return mayEnd;
}

/** The kinds that can begin a rule. */
export function firstOf(name: RuleName): ReadonlySet<TokenKind> {
  return nextAt(starts.get(name)!).kinds;
}

/** The point after the rule or the token that a point is before. */
export function afterStep(state: State): State {
  return state.edges[0]!.to;
}
