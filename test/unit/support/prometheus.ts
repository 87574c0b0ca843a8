/**
 * As much of PromQL as our rules use, on data that a test writes down: selectors with matchers and ranges, `rate`,
 * `increase`, `histogram_quantile`, `sum`/`max`/`count` with `by`, division, comparison with a number. Anything else is
 * refused, so that a rule cannot be misunderstood silently.
 */
export type Labels = Readonly<Record<string, string>>;

export interface Series {
  /** With `__name__`. */
  readonly labels: Labels;
  /** One value a minute. */
  readonly values: readonly number[];
}

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

type Node =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'selector';
      readonly name: string;
      readonly matchers: readonly Matcher[];
      readonly minutes?: number;
    }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: 'aggregate'; readonly name: string; readonly by: readonly string[]; readonly of: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Node; readonly right: Node };

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

const TOKEN =
  /\s*(?:([a-zA-Z_:][\w:]*)|(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*")|(=~|!~|!=|==|>=|<=|[-+*/><=(){}[\],]))/y;
const AGGREGATIONS = new Set(['sum', 'max', 'count']);
const FUNCTIONS = new Set(['rate', 'increase', 'histogram_quantile']);

/** @throws Error for what is not in the subset */
export function parseExpression(text: string): Node {
  const tokens = tokenize(text);
  let at = 0;
  const peek = (): string => tokens[at] ?? '';
  const next = (): string => tokens[at++] ?? '';
  const expect = (wanted: string): void => {
    const found = next();
    if (found !== wanted) throw new Error(`expected ${wanted}, found "${found}" in: ${text}`);
  };
  const list = (): string[] => {
    expect('(');
    const names = [next()];
    while (peek() === ',') {
      next();
      names.push(next());
    }
    expect(')');
    return names;
  };
  const primary = (): Node => {
    const token = next();
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (AGGREGATIONS.has(token)) {
      const by = peek() === 'by' ? (next(), list()) : [];
      expect('(');
      const of = comparison();
      expect(')');
      return { kind: 'aggregate', name: token, by, of };
    }
    if (peek() === '(') {
      if (!FUNCTIONS.has(token)) throw new Error(`unknown function ${token}`);
      next();
      const args = [comparison()];
      while (peek() === ',') {
        next();
        args.push(comparison());
      }
      expect(')');
      return { kind: 'call', name: token, args };
    }
    return selector(token);
  };
  const selector = (name: string): Node => {
    if (!/^[a-z_]/.test(name)) throw new Error(`unexpected "${name}" in: ${text}`);
    const matchers: Matcher[] = [];
    if (peek() === '{') {
      do {
        next();
        matchers.push({ label: next(), operator: next(), value: next().slice(1, -1) });
      } while (peek() === ',');
      expect('}');
    }
    if (peek() !== '[') return { kind: 'selector', name, matchers };
    next();
    const minutes = Number(next());
    expect('m');
    expect(']');
    return { kind: 'selector', name, matchers, minutes };
  };
  const division = (): Node => {
    let left = primary();
    while (peek() === '/') left = { kind: 'binary', operator: next(), left, right: primary() };
    return left;
  };
  const comparison = (): Node => {
    const left = division();
    if (!['>', '<', '=='].includes(peek())) return left;
    return { kind: 'binary', operator: next(), left, right: division() };
  };
  const node = comparison();
  if (at < tokens.length) throw new Error(`cannot read "${tokens.slice(at).join(' ')}" in: ${text}`);
  return node;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`cannot read "${text.slice(from)}"`);
    tokens.push(match.slice(1).find((part) => part !== undefined) ?? '');
  }
  return tokens;
}

/** Every selector and every `by` label of an expression. */
export function usesOf(
  node: Node,
): { metric: string; matchers: readonly Matcher[]; labels: readonly string[] }[] {
  const walk = (each: Node, labels: readonly string[]): ReturnType<typeof usesOf> => {
    switch (each.kind) {
      case 'number':
        return [];
      case 'selector':
        return [{ metric: each.name, matchers: each.matchers, labels }];
      case 'call':
        return each.args.flatMap((arg) => walk(arg, labels));
      case 'aggregate':
        return walk(each.of, [...labels, ...each.by]);
      case 'binary':
        return [...walk(each.left, labels), ...walk(each.right, labels)];
    }
  };
  return walk(node, []);
}

/** The samples that an expression gives at a minute; empty: no alert. */
export function evaluate(node: Node, data: readonly Series[], minute: number): readonly Sample[] {
  switch (node.kind) {
    case 'number':
      return [{ labels: {}, value: node.value }];
    case 'selector':
      return select(node, data).flatMap(({ labels, values }) => {
        const value = values[minute];
        return value === undefined ? [] : [{ labels, value }];
      });
    case 'call':
      return call(node, data, minute);
    case 'aggregate':
      return aggregate(node.name, node.by, evaluate(node.of, data, minute));
    case 'binary':
      return binary(node.operator, evaluate(node.left, data, minute), evaluate(node.right, data, minute));
  }
}

function select(
  { matchers, name }: { name: string; matchers: readonly Matcher[] },
  data: readonly Series[],
): Series[] {
  return data.filter(
    ({ labels }) => labels['__name__'] === name && matchers.every((matcher) => matches(matcher, labels)),
  );
}

export function matches({ label, operator, value }: Matcher, labels: Labels): boolean {
  const found = labels[label] ?? '';
  if (operator === '=') return found === value;
  if (operator === '!=') return found !== value;
  const isMatch = new RegExp(`^(?:${value})$`).test(found);
  return operator === '=~' ? isMatch : !isMatch;
}

function call(
  { args, name }: { name: string; args: readonly Node[] },
  data: readonly Series[],
  minute: number,
): readonly Sample[] {
  const [first, second] = args;
  if (name === 'histogram_quantile' && first?.kind === 'number' && second)
    return quantile(first.value, evaluate(second, data, minute));
  if (first?.kind !== 'selector' || first.minutes === undefined) throw new Error(`${name} needs a range`);
  const { minutes } = first;
  return select(first, data).flatMap(({ labels, values }) => {
    const window = values.slice(Math.max(0, minute - minutes), minute + 1);
    if (window.length < 2) return [];
    const grown = window.slice(1).reduce((sum, value, index) => {
      const before = window[index] ?? 0;
      return sum + (value < before ? value : value - before);
    }, 0);
    return [{ labels, value: name === 'rate' ? grown / (minutes * 60) : grown }];
  });
}

function aggregate(name: string, by: readonly string[], samples: readonly Sample[]): readonly Sample[] {
  const groups = Map.groupBy(samples, ({ labels }) => JSON.stringify(by.map((label) => labels[label] ?? '')));
  return [...groups.values()].map((group) => {
    const values = group.map(({ value }) => value);
    const labels = Object.fromEntries(by.map((label) => [label, group[0]?.labels[label] ?? '']));
    if (name === 'count') return { labels, value: values.length };
    return { labels, value: name === 'max' ? Math.max(...values) : values.reduce((a, b) => a + b, 0) };
  });
}

function binary(operator: string, left: readonly Sample[], right: readonly Sample[]): readonly Sample[] {
  const keyOf = ({ labels }: Sample): string => JSON.stringify(Object.entries(labels).sort());
  return left.flatMap((sample) => {
    const other = right.find((each) => keyOf(each) === keyOf(sample)) ?? scalar(right);
    if (other === undefined) return [];
    if (operator === '/') return [{ labels: sample.labels, value: sample.value / other.value }];
    const holds = {
      '>': sample.value > other.value,
      '<': sample.value < other.value,
      '==': sample.value === other.value,
    };
    return holds[operator as keyof typeof holds] ? [sample] : [];
  });
}

function scalar(samples: readonly Sample[]): Sample | undefined {
  const [only] = samples;
  return samples.length === 1 && only && Object.keys(only.labels).length === 0 ? only : undefined;
}

function quantile(q: number, buckets: readonly Sample[]): readonly Sample[] {
  const withoutLe = ({ labels: { le: _le, ...labels } }: Sample): Labels => labels;
  const groups = Map.groupBy(buckets, (bucket) => JSON.stringify(withoutLe(bucket)));
  return [...groups.values()].flatMap((group) => {
    const bounds = group
      .map(({ labels, value }) => ({ le: labels['le'] === '+Inf' ? Infinity : Number(labels['le']), value }))
      .sort((a, b) => a.le - b.le);
    const total = bounds.at(-1)?.value ?? 0;
    const [first] = group;
    if (total === 0 || !first) return [];
    const index = bounds.findIndex(({ value }) => value >= q * total);
    const upper = bounds[index];
    const lower = bounds[index - 1] ?? { le: 0, value: 0 };
    if (!upper) return [];
    if (upper.le === Infinity) return [{ labels: withoutLe(first), value: lower.le }];
    const share = (q * total - lower.value) / (upper.value - lower.value);
    return [{ labels: withoutLe(first), value: lower.le + (upper.le - lower.le) * share }];
  });
}

/** `'0+10x5'`: 0, 10, 20 … 50. `'3x5'`: 3 six times. */
export function valuesOf(notation: string): number[] {
  const [, start = '0', step = '0', count = '0'] = /^(-?[\d.]+)(?:\+([\d.]+))?x(\d+)$/.exec(notation) ?? [];
  return Array.from({ length: Number(count) + 1 }, (_, index) => Number(start) + index * Number(step));
}

/** `workqueue_depth{name="deployment"}` and its values. */
export function series(name: string, notation: string): Series {
  const node = parseExpression(name);
  if (node.kind !== 'selector') throw new Error(`${name} is no series`);
  const labels = Object.fromEntries(node.matchers.map(({ label, value }) => [label, value]));
  return { labels: { ...labels, __name__: node.name }, values: valuesOf(notation) };
}

/** The first minute at which the alert fires; undefined: never. */
export function firesAt(
  rule: { readonly expr: string; readonly for?: string },
  data: readonly Series[],
  minutes = 30,
): number | undefined {
  const node = parseExpression(rule.expr);
  const forMinutes = Number(/^(\d+)m$/.exec(rule.for ?? '0m')?.[1]);
  const pending = new Map<string, number>();
  for (let minute = 0; minute <= minutes; minute++) {
    const active = new Set(evaluate(node, data, minute).map(({ labels }) => JSON.stringify(labels)));
    for (const key of pending.keys()) if (!active.has(key)) pending.delete(key);
    for (const key of active) {
      const since = pending.get(key) ?? minute;
      pending.set(key, since);
      if (minute - since >= forMinutes) return minute;
    }
  }
  return undefined;
}
