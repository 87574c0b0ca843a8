import {
  SHARD_HASHES,
  goQuote,
  isInShard,
  shardHash,
  shardSelectorText,
} from '@rollkeeper/machinery/kubernetes';
import type { ShardField, ShardRange } from '@rollkeeper/machinery/kubernetes';
import { parseExpression } from '../../cel/index.js';
import type { ExpressionNode } from '../../cel/index.js';
import { StatusError } from '../../schema/errors/index.js';

/** The shard that a request is about. */
export interface ShardSelector {
  readonly field: ShardField;
  /** The echo: the ranges in the form that a server gives them, without the spaces and quotes of the request. */
  readonly text: string;
  /** @param hash that of the field's value */
  includes(hash: bigint): boolean;
}

/** The part of an object whose shard is asked for. */
interface Sharded {
  readonly metadata: { readonly uid?: string | undefined; readonly namespace?: string | undefined };
}

/** The hash of the field of an object by which a shard selects. */
export function shardHashOf(field: ShardField, { metadata }: Sharded): bigint {
  return shardHash((field === 'object.metadata.uid' ? metadata.uid : metadata.namespace) ?? '');
}

/**
 * The `shardSelector` of a query; undefined when it is absent or empty, which selects everything. Source: `Parse` in
 * k8s.io/apiserver/pkg/sharding, and the words with which its registry refuses.
 * @throws StatusError 500 without a reason, as genuine servers answer here
 */
export function parseShardSelector(query: URLSearchParams): ShardSelector | undefined {
  const expression = query.get('shardSelector');
  if (!expression) return undefined;
  const { field, ranges } = read(expression.trim());
  return {
    field,
    text: shardSelectorText(field, ranges),
    includes: (hash) => isInShard(hash, ranges),
  };
}

interface FieldRange extends ShardRange {
  readonly field: ShardField;
}

function read(expression: string): { readonly field: ShardField; readonly ranges: readonly ShardRange[] } {
  if (expression === '')
    throw invalid('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const ranges = plainRangesIn(expression) ?? rangesOfExpression(expression);
  const { field } = ranges[0]!;
  const other = ranges.find((range) => range.field !== field);
  if (other)
    throw invalid(
      `all shard ranges must use the same field, got ${goQuote(field)} and ${goQuote(other.field)}`,
    );
  return { field, ranges };
}

/** A range as clients write it. */
const PLAIN = /^\s*shardRange\(\s*([\w.]+)\s*,\s*'(0x[0-9a-f]+)'\s*,\s*'(0x[0-9a-f]+)'\s*\)\s*$/;

/** The ranges of a selector as clients write it, for which no expression has to be parsed; undefined for any other. */
function plainRangesIn(expression: string): readonly FieldRange[] | undefined {
  const ranges: FieldRange[] = [];
  for (const text of expression.split('||')) {
    const [, field = '', from = '', to = ''] = PLAIN.exec(text) ?? [];
    if (!isShardField(field) || [from, to].some((bound) => boundProblem(bound, '') !== undefined))
      return undefined;
    const [start, end] = [BigInt(from), BigInt(to)];
    if (start >= end) return undefined;
    ranges.push({ field, start, end });
  }
  return ranges;
}

/**
 * The characters of an expression that is parsed. Who may read objects may send them; what clients write is shorter, or plain. A genuine
 * server has no bound but that of the request.
 */
const MAX_PARSED = 1000;

function rangesOfExpression(expression: string): readonly FieldRange[] {
  if (expression.length > MAX_PARSED)
    throw invalid(
      `CEL parse error: expression code point size exceeds limit: size: ${expression.length}, limit ${MAX_PARSED}`,
    );
  const { problem, root } = parseExpression(expression);
  if (!root) throw invalid(`CEL parse error: ${problem}`);
  return alternativesOf(root).map(rangeOf);
}

/** The sides of all `||`, from left to right; a chain of them is as deep as it is long. */
function alternativesOf(root: ExpressionNode): readonly ExpressionNode[] {
  const found: ExpressionNode[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.op === '||') waiting.push(node.args[1], node.args[0]);
    else found.push(node);
  }
  return found;
}

function rangeOf(node: ExpressionNode): FieldRange {
  if (kindOf(node) !== CALL)
    throw invalid(`unexpected expression kind ${kindOf(node)}; expected shardRange() call or || operator`);
  const name = functionOf(node);
  if (name !== 'shardRange')
    throw invalid(`unsupported function ${goQuote(name)}; only shardRange() and || are allowed`);
  const args = argumentsOf(node);
  const [path, from, to] = args;
  if (args.length !== 3 || !path || !from || !to)
    throw invalid(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const field = pathOf(path);
  if (!isShardField(field))
    throw invalid(
      `unsupported field path ${goQuote(field)}; supported: object.metadata.uid, object.metadata.namespace`,
    );
  const start = boundOf(from, 'hexStart');
  const end = boundOf(to, 'hexEnd');
  if (start.hash >= end.hash)
    throw invalid(`shard range start ${start.text} must be less than end ${end.text}`);
  return { field, start: start.hash, end: end.hash };
}

function isShardField(path: string): path is ShardField {
  return path === 'object.metadata.uid' || path === 'object.metadata.namespace';
}

function argumentsOf(node: ExpressionNode): readonly ExpressionNode[] {
  if (node.op === 'call') return node.args[1];
  return node.op === 'rcall' ? node.args[2] : [];
}

function pathOf(node: ExpressionNode): string {
  if (node.op === 'id') return node.args;
  if (node.op === '.') return `${pathOf(node.args[0])}.${node.args[1]}`;
  throw invalid(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kindOf(node)}`,
  );
}

/** Digits of a bound; 2^64 alone has one more. */
const DIGITS = 16;

function boundOf(node: ExpressionNode, name: string): { readonly text: string; readonly hash: bigint } {
  if (kindOf(node) !== LITERAL)
    throw invalid(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kindOf(node)}`);
  const text: unknown = node.args;
  if (typeof text !== 'string')
    throw invalid(`${name} must be a string literal, got ${goTypeOfLiteral(node)}`);
  const problem = boundProblem(text, name);
  if (problem !== undefined) throw invalid(problem);
  return { text, hash: BigInt(text) };
}

function boundProblem(text: string, name: string): string | undefined {
  if (!text.startsWith('0x')) return `${name} must have '0x' prefix, got ${goQuote(text)}`;
  const digits = text.slice(2);
  if (digits === '') return `${name}: hex value is required after '0x'`;
  const length = Buffer.byteLength(digits);
  if (length > DIGITS + 1) return `${name}: hex value too long (${length} chars, max 17): ${goQuote(digits)}`;
  const wrong = [...digits].find((digit) => !/[0-9a-f]/.test(digit));
  if (wrong !== undefined) return `${name}: invalid hex character ${goQuote(wrong)} in ${goQuote(text)}`;
  if (length > DIGITS && BigInt(text) !== SHARD_HASHES)
    return `${name}: 17-digit hex value must be '0x10000000000000000' (2^64), got ${goQuote(text)}`;
  if (length >= DIGITS) return undefined;
  const padded = `0x${digits.padStart(DIGITS, '0')}`;
  return `${name} must be a 0x-prefixed 16-digit hex value, got ${goQuote(text)} (did you mean ${goQuote(padded)}?)`;
}

/** The numbers of cel-go's kinds of expressions, which its messages show. */
const CALL = 1;
const LITERAL = 5;
const KINDS: Readonly<Record<string, number>> = { id: 3, list: 4, value: LITERAL, map: 6, '.': 7 };

function kindOf(node: ExpressionNode): number {
  // A sign belongs to the number behind it.
  if (node.op === '-_' && isNumber(node.args)) return LITERAL;
  return KINDS[node.op] ?? CALL;
}

function isNumber(node: ExpressionNode): boolean {
  return node.op === 'value' && ['int64', 'float64'].includes(goTypeOfLiteral(node));
}

function goTypeOfLiteral(node: ExpressionNode): string {
  const value: unknown = node.op === '-_' ? node.args.args : node.args;
  switch (typeof value) {
    case 'bigint':
      return 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      if (value === null) return 'structpb.NullValue';
      return value instanceof Uint8Array ? '[]uint8' : 'uint64';
  }
}

/** The names of cel-go's operators that are not their sign between underscores. */
const OPERATORS: Readonly<Record<string, string>> = {
  in: '@in',
  '?:': '_?_:_',
  '[]': '_[_]',
  '[?]': '_[?_]',
  '.?': '_?._',
};

function functionOf(node: ExpressionNode): string {
  if (node.op === 'call' || node.op === 'rcall') return node.args[0];
  if (node.op === '!_' || node.op === '-_') return node.op;
  return OPERATORS[node.op] ?? `_${node.op}_`;
}

function invalid(problem: string): StatusError {
  return new StatusError(500, '', `invalid shard selector: ${problem}`);
}
