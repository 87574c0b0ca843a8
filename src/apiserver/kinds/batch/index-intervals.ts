import { goQuote } from '@rollkeeper/machinery/kubernetes';

/** From the first index to the last one. */
type Interval = readonly [number, number];
type Parsed = { readonly interval: Interval } | { readonly problem: string };

/**
 * How many indexes a text like `1,3-5` names, or what is wrong with it. Source: validateIndexesFormat in
 * pkg/apis/batch/validation.
 */
export function countIndexes(
  text: string,
  completions: number,
): { readonly total: number } | { readonly problem: string } {
  if (text === '') return { total: 0 };
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const parsed = parseInterval(part, completions);
    if ('problem' in parsed) return parsed;
    const [first, last] = parsed.interval;
    if (previous !== undefined && previous >= first) return outOfOrder(previous, first);
    total += last - first + 1;
    previous = last;
  }
  return { total };
}

/** The first index that is in both texts. Source: validateFailedIndexesNotOverlapCompleted. */
export function sharedIndex(one: string, other: string, completions: number): number | undefined {
  const others = intervalsOf(other, completions);
  // Both are in order, so that what ends before one of the first text begins is of no use to those behind it.
  let at = 0;
  for (const [first, last] of intervalsOf(one, completions)) {
    while (at < others.length && others[at]![1] < first) at++;
    const shared = others[at];
    if (shared && shared[0] <= last) return Math.max(first, shared[0]);
  }
  return undefined;
}

/** The intervals that can be read. */
function intervalsOf(text: string, completions: number): readonly Interval[] {
  if (text === '') return [];
  return text.split(',').flatMap((part) => {
    const parsed = parseInterval(part, completions);
    return 'interval' in parsed ? [parsed.interval] : [];
  });
}

function parseInterval(text: string, completions: number): Parsed {
  const limits = text.split('-');
  if (limits.length > 2)
    return {
      problem: `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    };
  const [first = '', last = first] = limits;
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit))
      return { problem: `cannot convert string to integer for index: ${goQuote(limit)}` };
    if (Number(limit) >= completions) return { problem: `too large index: ${goQuote(limit)}` };
  }
  const interval = [Number(first), Number(last)] as const;
  return limits.length === 2 && interval[0] >= interval[1] ? outOfOrder(...interval) : { interval };
}

function outOfOrder(previous: number, current: number): { readonly problem: string } {
  return { problem: `non-increasing order, previous: ${previous}, current: ${current}` };
}
