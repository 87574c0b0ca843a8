import type { CheckedType, ExpressionNode } from '../library/cost.js';
import { OWN_HAS } from '../library/macros.js';
import type { Operand } from './estimate-call.js';
import { estimateCall, estimateOperator } from './estimate-call.js';
import type { DeclaredSizes, Size } from './size.js';
import { UNKNOWN_SIZE, exactly, times, unionOf } from './size.js';

type NameNode = Extract<ExpressionNode, { readonly op: 'id' }>;

/**
 * How far the declared sizes have been followed: `nowhere` if a name is not declared, `start` if nothing has been
 * looked up yet. The genuine estimate treats the first step of any path as the name of a variable, and so does this
 * one.
 */
type Way = DeclaredSizes | 'nowhere' | 'start';

/** Sizes of what is in a list or a map. */
interface EntrySizes {
  readonly keys: Size;
  readonly values: Size;
}

interface Estimate {
  /** The most that the evaluation may cost. */
  readonly cost: number;
  readonly way: Way;
  /** Undefined where nothing is known. */
  readonly size?: Size | undefined;
  readonly entries?: EntrySizes | undefined;
}

const NEW_LIST = 10;
const NEW_MAP = 30;
const ONE = exactly(1);
/** The types that cannot be large. */
const SCALARS = new Set([
  'bool', 'double', 'int', 'uint', 'google.protobuf.Duration', 'google.protobuf.Timestamp',
]); // prettier-ignore
const UNKNOWN_TYPE: CheckedType = { kind: 'dyn', name: 'dyn' };

/**
 * The largest cost of the evaluation of a checked expression, given how large its variables may be. Source:
 * cel-go/checker/cost.go, with the options of apiserver/pkg/cel/environment/base.go.
 * @param root the checked expression
 * @param sizes of each of its variables
 * @returns units, Infinity where nothing bounds them
 */
export function estimateCost(root: ExpressionNode, sizes: DeclaredSizes): number {
  return new Estimator(sizes).estimate(root).cost;
}

class Estimator {
  /** The variables of macros, the innermost last. */
  private readonly locals = new Map<string, Estimate[]>();

  constructor(private readonly root: DeclaredSizes) {}

  estimate(node: ExpressionNode): Estimate {
    switch (node.op) {
      case 'value':
        return { cost: 0, way: 'start', size: literalSize(node.args) };
      case 'id':
        return this.name(node.args, node);
      case '.':
        return this.select(node.args, node);
      case '.?':
      case '[?]':
        return this.computed(this.sumOf(nodesOf(node.args)) + 1, node);
      case '[]':
        return this.index(node.args, node);
      case 'list':
        return this.list(node.args);
      case 'map':
        return this.map(node.args);
      case '||':
      case '&&':
        return this.computed(this.sumOf(node.args), node);
      case '?:':
        return this.choice(node.args);
      case '!_':
        return this.computed(this.estimate(node.args).cost + 1, node);
      case '-_':
        return this.negation(node.args, node);
      case 'call': {
        const [name, given] = node.args;
        return this.call(name, undefined, given, node);
      }
      case 'rcall': {
        const [name, target, given] = node.args;
        return this.macro(name, target, given, node) ?? this.call(name, target, given, node);
      }
      default:
        return this.operator(node.op, node.args, node);
    }
  }

  private sumOf(nodes: readonly ExpressionNode[]): number {
    return nodes.reduce((sum, node) => sum + this.estimate(node).cost, 0);
  }

  /** A result whose size only depends on its type. */
  private computed(cost: number, node: ExpressionNode, size?: Size): Estimate {
    return { cost, way: 'start', size: size ?? typeSize(typeOf(node)) };
  }

  /** The estimate for a value that has been looked up, with the size that is declared for it. */
  private found(cost: number, way: Way, node: ExpressionNode, size?: Size): Estimate {
    const declared = typeof way === 'string' ? undefined : { min: 0, max: way.max };
    return { cost, way, size: declared ?? typeSize(typeOf(node)) ?? size };
  }

  private step(way: Way, next: (sizes: DeclaredSizes) => DeclaredSizes | undefined): Way {
    if (way === 'start') return this.root;
    return way === 'nowhere' ? way : (next(way) ?? 'nowhere');
  }

  private name(name: string, node: ExpressionNode): Estimate {
    const local = this.locals.get(name)?.at(-1);
    if (!local) return this.found(1, this.root, node);
    return { ...this.found(1, local.way, node, local.size), entries: local.entries };
  }

  private select([owner, name]: [ExpressionNode, string], node: ExpressionNode): Estimate {
    const from = this.estimate(owner);
    const { kind } = typeOf(owner);
    const cost = kind === 'map' || kind === 'message' || kind === 'param' ? 1 : 0;
    const way = this.step(from.way, (sizes) => sizes.field(name));
    return this.found(from.cost + cost, way, node);
  }

  private index([owner, key]: [ExpressionNode, ExpressionNode], node: ExpressionNode): Estimate {
    const from = this.estimate(owner);
    const cost = from.cost + this.estimate(key).cost + 1;
    const way = this.step(from.way, (sizes) => sizes.items());
    return from.entries ? { cost, way, size: from.entries.values } : this.found(cost, way, node);
  }

  private list(items: readonly ExpressionNode[]): Estimate {
    const estimates = items.map((item) => this.estimate(item));
    return {
      cost: totalOf(estimates) + NEW_LIST,
      way: 'start',
      size: exactly(items.length),
      entries: { keys: ONE, values: sizeOfAny(estimates) },
    };
  }

  private map(entries: readonly [ExpressionNode, ExpressionNode][]): Estimate {
    const keys = entries.map(([key]) => this.estimate(key));
    const values = entries.map(([, value]) => this.estimate(value));
    return {
      cost: totalOf(keys) + totalOf(values) + NEW_MAP,
      way: 'start',
      size: exactly(entries.length),
      entries: { keys: sizeOfAny(keys), values: sizeOfAny(values) },
    };
  }

  private choice([condition, yes, no]: [ExpressionNode, ExpressionNode, ExpressionNode]): Estimate {
    const [first, second] = [this.estimate(yes), this.estimate(no)];
    return {
      cost: this.estimate(condition).cost + Math.max(first.cost, second.cost),
      way: 'start',
      size: unionOf(sizeOf(first), sizeOf(second)),
      entries: entriesOfEither(first.entries, second.entries),
    };
  }

  /** A negative number is a literal. */
  private negation(operand: ExpressionNode, node: ExpressionNode): Estimate {
    const estimate = this.estimate(operand);
    return operand.op === 'value' ? estimate : this.computed(estimate.cost + 1, node);
  }

  private operator(
    op: string,
    [left, right]: [ExpressionNode, ExpressionNode],
    node: ExpressionNode,
  ): Estimate {
    const [first, second] = [this.estimate(left), this.estimate(right)];
    const { cost, size } = estimateOperator(op, this.operand(left, first), this.operand(right, second));
    const result = this.computed(first.cost + second.cost + cost, node, size);
    return op === '+' ? { ...result, entries: entriesOfEither(first.entries, second.entries) } : result;
  }

  private call(
    name: string,
    target: ExpressionNode | undefined,
    args: readonly ExpressionNode[],
    node: ExpressionNode,
  ): Estimate {
    if (name === OWN_HAS && !target) return this.presence(args[0]!, node);
    const estimates = args.map((arg) => this.estimate(arg));
    // The genuine environment, too, looks through this function to its argument.
    if (name === 'dyn' && !target && estimates[0])
      return { ...estimates[0], way: 'start', cost: estimates[0].cost + 1 };
    const operands = args.map((arg, index) => this.operand(arg, estimates[index]!));
    const isNamed = target !== undefined && isNamespace(target);
    const receiver = target === undefined || isNamed ? undefined : this.estimate(target);
    const { cost, size } = estimateCall(
      isNamed ? `${target.args}.${name}` : name,
      receiver && this.operand(target!, receiver),
      operands,
    );
    return this.computed(totalOf(estimates) + (receiver?.cost ?? 0) + cost, node, size);
  }

  /** Whether a field is there costs what it takes to find its owner. */
  private presence(field: ExpressionNode, node: ExpressionNode): Estimate {
    return this.computed(field.op === '.' ? this.estimate(field.args[0]).cost : 0, node);
  }

  /** Calls that are loops and names; undefined for others. */
  private macro(
    name: string,
    target: ExpressionNode,
    args: readonly ExpressionNode[],
    node: ExpressionNode,
  ): Estimate | undefined {
    const [variable, first, second] = args;
    if (variable?.op !== 'id' || !first) return undefined;
    const local = variable.args;
    if (name === 'bind' && isNamespace(target) && second) {
      const value = this.estimate(first);
      const result = this.within(local, value, second);
      return { ...result, way: 'start', cost: NEW_LIST + value.cost + result.cost };
    }
    switch (`${name}/${args.length}`) {
      case 'all/2':
        return this.loop(target, local, { before: 1, ofEach: 3, predicate: first });
      case 'exists/2':
        return this.loop(target, local, { before: 1, ofEach: 4, predicate: first });
      case 'exists_one/2':
        return this.loop(target, local, { before: 2, ofEach: 2, predicate: first });
      case 'filter/2':
        return this.loop(target, local, { ...COLLECTING, predicate: first, item: variable });
      case 'map/2':
        return this.loop(target, local, { ...COLLECTING, item: first });
      case 'map/3':
        return this.loop(target, local, { ...COLLECTING, predicate: first, item: second! });
      case 'optMap/2':
      case 'optFlatMap/2':
        return this.optional(name, target, local, first, node);
      default:
        return undefined;
    }
  }

  private within(local: string, value: Estimate, node: ExpressionNode): Estimate {
    const stack = this.locals.get(local) ?? [];
    this.locals.set(local, [...stack, value]);
    try {
      return this.estimate(node);
    } finally {
      this.locals.set(local, stack);
    }
  }

  private loop(target: ExpressionNode, local: string, { before, ofEach, predicate, item }: Loop): Estimate {
    const range = this.estimate(target);
    const size = sizeOf(range);
    const isMap = typeOf(target).kind === 'map';
    const variable: Estimate = {
      cost: 1,
      way: this.step(range.way, (sizes) => (isMap ? sizes.keys() : sizes.items())),
      size: isMap ? range.entries?.keys : range.entries?.values,
    };
    const judged = predicate ? this.within(local, variable, predicate).cost : 0;
    const made = item && this.within(local, variable, item);
    const cost = range.cost + before + times(size.max, ofEach + judged + (made?.cost ?? 0));
    if (!made) return { cost, way: 'start', size: ONE };
    const values = unionOf(exactly(0), sizeOf(made));
    return { cost, way: 'start', size, entries: { keys: ONE, values } };
  }

  private optional(
    name: string,
    target: ExpressionNode,
    local: string,
    expression: ExpressionNode,
    node: ExpressionNode,
  ): Estimate {
    const from = this.estimate(target).cost + 1;
    const { valueType } = typeOf(target);
    const value: Estimate = { cost: 1, way: 'start', size: valueType && typeSize(valueType) };
    const result = this.within(local, value, expression).cost;
    const wrapped = name === 'optMap' ? 1 : 0;
    return this.computed(from + wrapped + NEW_LIST + from + result, node, UNKNOWN_SIZE);
  }

  private operand(node: ExpressionNode, estimate: Estimate): Operand {
    const type = typeOf(node);
    const literal = node.op === 'value' && typeof node.args === 'bigint' ? Number(node.args) : undefined;
    return {
      size: sizeOf(estimate),
      type,
      ...(type.kind === 'list' && type.valueType && { items: this.items(estimate, type.valueType) }),
      ...(literal !== undefined && { literal }),
    };
  }

  /** The genuine estimate knows nothing of the items of lists that the expression makes, and refuses operations on them. */
  private items(list: Estimate, type: CheckedType): NonNullable<Operand['items']> {
    const way = list.way === 'start' ? 'nowhere' : this.step(list.way, (sizes) => sizes.items());
    const size = typeof way === 'string' ? list.entries?.values : { min: 0, max: way.max };
    return { type, size: size ?? UNKNOWN_SIZE };
  }
}

interface Loop {
  /** Once, beside finding what is looped over. */
  readonly before: number;
  /** For every item, beside the expressions. */
  readonly ofEach: number;
  readonly predicate?: ExpressionNode;
  /** The expression whose results are collected. */
  readonly item?: ExpressionNode;
}

/** Every item is added as a list of its own. */
const COLLECTING = { before: NEW_LIST + 1, ofEach: 2 + NEW_LIST };

function nodesOf(args: readonly (ExpressionNode | string)[]): ExpressionNode[] {
  return args.filter((arg) => typeof arg !== 'string');
}

function totalOf(estimates: readonly Estimate[]): number {
  return estimates.reduce((sum, { cost }) => sum + cost, 0);
}

function sizeOf({ size }: Estimate): Size {
  return size ?? UNKNOWN_SIZE;
}

function sizeOfAny(estimates: readonly Estimate[]): Size {
  const [first, ...rest] = estimates.map(sizeOf);
  return first ? rest.reduce(unionOf, first) : exactly(0);
}

function entriesOfEither(
  left: EntrySizes | undefined,
  right: EntrySizes | undefined,
): EntrySizes | undefined {
  if (!left || !right) return undefined;
  return { keys: unionOf(left.keys, right.keys), values: unionOf(left.values, right.values) };
}

function typeOf({ checkedType }: ExpressionNode): CheckedType {
  return checkedType ?? UNKNOWN_TYPE;
}

function typeSize({ kind, name, valueType }: CheckedType): Size | undefined {
  if (kind === 'optional' && valueType) return typeSize(valueType);
  return SCALARS.has(name) ? ONE : undefined;
}

/** The prefix of functions such as `sets.contains`. */
function isNamespace(node: ExpressionNode): node is NameNode {
  return node.op === 'id' && node.checkedType?.name.endsWith('Namespace') === true;
}

function literalSize(value: unknown): Size {
  if (typeof value === 'string') return exactly([...value].length);
  return exactly(value instanceof Uint8Array ? value.length : 1);
}
