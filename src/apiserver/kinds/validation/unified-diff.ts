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
    ...matchesOf(a, b),
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

/** Texts with more lines in all are shown as changed from their first line to their last: to compare them would keep others waiting. */
const MAX_COMPARED = 2_000;
/** In a text of at least this many lines, a line that makes up more than a hundredth of them begins no match, as in difflib. */
const MANY = 200;

/** Runs of equal lines, in order. */
function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  if (a.length + b.length > MAX_COMPARED) return [];
  const places = Map.groupBy(b.keys(), (index) => b[index]!);
  if (b.length >= MANY)
    for (const [line, { length }] of places) if (length > b.length / 100 + 1) places.delete(line);
  return joined(matchesIn({ a, b, places }, [0, a.length], [0, b.length]));
}

/** Matches that touch are one. */
function joined(matches: readonly Match[]): Match[] {
  const result: Match[] = [];
  for (const match of matches) {
    const last = result.at(-1);
    if (last && last.a + last.length === match.a && last.b + last.length === match.b)
      result[result.length - 1] = { ...last, length: last.length + match.length };
    else result.push(match);
  }
  return result;
}

interface Compared {
  readonly a: readonly string[];
  readonly b: readonly string[];
  /** The index of a line in `b`. */
  readonly places: ReadonlyMap<string, readonly number[]>;
}

/** The longest run of equal lines, and those before and behind it. */
function matchesIn(compared: Compared, inA: Range, inB: Range): Match[] {
  const match = longestMatch(compared, inA, inB);
  if (match.length === 0) return [];
  return [
    ...matchesIn(compared, [inA[0], match.a], [inB[0], match.b]),
    match,
    ...matchesIn(compared, [match.a + match.length, inA[1]], [match.b + match.length, inB[1]]),
  ];
}

/** The first of the longest ones. */
function longestMatch({ a, b, places }: Compared, inA: Range, inB: Range): Match {
  let best: Match = { a: inA[0], b: inB[0], length: 0 };
  let before = new Map<number, number>();
  for (let i = inA[0]; i < inA[1]; i++) {
    const lengths = new Map<number, number>();
    for (const j of places.get(a[i]!) ?? []) {
      if (j < inB[0]) continue;
      if (j >= inB[1]) break;
      const length = (before.get(j - 1) ?? 0) + 1;
      lengths.set(j, length);
      if (length > best.length) best = { a: i - length + 1, b: j - length + 1, length };
    }
    before = lengths;
  }
  return grown(best, a, b, inA, inB);
}

/** A match with the equal lines on both of its sides, which may have begun none. */
function grown(match: Match, a: readonly string[], b: readonly string[], inA: Range, inB: Range): Match {
  let { a: atA, b: atB, length } = match;
  while (atA > inA[0] && atB > inB[0] && a[atA - 1] === b[atB - 1]) {
    atA--;
    atB--;
    length++;
  }
  while (atA + length < inA[1] && atB + length < inB[1] && a[atA + length] === b[atB + length]) length++;
  return { a: atA, b: atB, length };
}
