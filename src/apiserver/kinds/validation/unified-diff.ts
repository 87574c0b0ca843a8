import { goJsonEscapes, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { internalForm } from './internal-form.js';

/**
 * How two values differ, as Kubernetes shows it in a refusal of a change: a unified diff of their internal forms. Source: `Diff` in
 * apimachinery's util/diff, and the package difflib that it uses.
 * @param type the package and the name of the type: `core.PersistentVolumeSource`
 */
export function internalDiff(type: string, before: unknown, after: unknown): string {
  return unifiedDiff(linesOf(type, before), linesOf(type, after));
}

function linesOf(type: string, value: unknown): string[] {
  return goJsonEscapes(stringifyJson(internalForm(type, value), 1)).split('\n');
}

const CONTEXT = 3;

/** Lines `from` to `to`, the latter exclusive, of both texts. */
interface Piece {
  readonly kind: 'equal' | 'changed';
  readonly a: readonly [from: number, to: number];
  readonly b: readonly [from: number, to: number];
}

function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  return groupsOf(piecesOf(a, b))
    .map((group) => {
      const [first, last] = [group[0]!, group.at(-1)!];
      const head = `@@ -${range(first.a[0], last.a[1])} +${range(first.b[0], last.b[1])} @@\n`;
      return head + group.map((piece) => textOf(piece, a, b)).join('');
    })
    .join('');
}

function textOf({ kind, ...piece }: Piece, a: readonly string[], b: readonly string[]): string {
  const marked = (mark: string, lines: readonly string[]): string =>
    lines.map((line) => `${mark}${line}\n`).join('');
  if (kind === 'equal') return marked(' ', a.slice(...piece.a));
  return marked('-', a.slice(...piece.a)) + marked('+', b.slice(...piece.b));
}

function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}

/** Changes with the lines around them; those whose surroundings touch are one group. */
function groupsOf(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let group: Piece[] = [];
  pieces.forEach((piece, index) => {
    if (piece.kind === 'changed') return void group.push(piece);
    const length = piece.a[1] - piece.a[0];
    const isFirst = index === 0;
    const isLast = index === pieces.length - 1;
    if (!isFirst && !isLast && length <= 2 * CONTEXT) return void group.push(piece);
    if (!isFirst) group.push(part(piece, 0, Math.min(length, CONTEXT)));
    if (!isFirst && !isLast) {
      groups.push(group);
      group = [];
    }
    if (!isLast) group.push(part(piece, Math.max(0, length - CONTEXT), length));
  });
  groups.push(group);
  return groups.filter((each) => each.some(({ kind }) => kind === 'changed'));
}

function part({ a, b, kind }: Piece, from: number, to: number): Piece {
  return { kind, a: [a[0] + from, a[0] + to], b: [b[0] + from, b[0] + to] };
}

function piecesOf(a: readonly string[], b: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let [atA, atB] = [0, 0];
  for (const { a: fromA, b: fromB, length } of [
    ...matchesOf(a, b, [0, a.length], [0, b.length]),
    { a: a.length, b: b.length, length: 0 },
  ]) {
    if (atA < fromA || atB < fromB) pieces.push({ kind: 'changed', a: [atA, fromA], b: [atB, fromB] });
    [atA, atB] = [fromA + length, fromB + length];
    if (length > 0) pieces.push({ kind: 'equal', a: [fromA, atA], b: [fromB, atB] });
  }
  return pieces;
}

interface Match {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

type Range = readonly [from: number, to: number];

/** The longest run of equal lines, and those before and behind it. */
function matchesOf(a: readonly string[], b: readonly string[], inA: Range, inB: Range): Match[] {
  const match = longestMatch(a, b, inA, inB);
  if (match.length === 0) return [];
  return [
    ...matchesOf(a, b, [inA[0], match.a], [inB[0], match.b]),
    match,
    ...matchesOf(a, b, [match.a + match.length, inA[1]], [match.b + match.length, inB[1]]),
  ];
}

/** The first of the longest ones. */
function longestMatch(a: readonly string[], b: readonly string[], inA: Range, inB: Range): Match {
  let best: Match = { a: inA[0], b: inB[0], length: 0 };
  let before: readonly number[] = [];
  for (let i = inA[0]; i < inA[1]; i++) {
    const lengths: number[] = [];
    for (let j = inB[0]; j < inB[1]; j++) {
      if (a[i] !== b[j]) continue;
      const length = (before[j - 1] ?? 0) + 1;
      lengths[j] = length;
      if (length > best.length) best = { a: i - length + 1, b: j - length + 1, length };
    }
    before = lengths;
  }
  return best;
}
